// Two people on one page. What is shown is what the server said: nothing is guessed ahead of it.

const FINAL = { 4001: "Another window speaks for this user now.", 4003: "The token is not good any more: sign in again." };
const TIERS = {
  2: "Nobody yet: looking a little further.",
  3: "Nobody yet: looking further.",
  99: "Nobody yet: anybody will do now, of any age and anywhere.",
};
const OUTCOMES = { both_yes: "Both said yes.", yes_pass: "One yes, one pass.", pass_pass: "Both passed.", yes_idle: "One yes, one silent.", pass_idle: "One pass, one silent.", idle_idle: "Nobody voted." };
const STORIES = {
  waiting: { spun: "In line until somebody suitable spins.", requeued: "Back in line. Two who have met never meet again: make two new people for another go.", partner_left: "They left; back in your old place.", partner_lost: "They were lost; back in your old place.", not_acknowledged: "They did not turn up; back in your old place.", resumed: "Still in line." },
  idle: { left: "Out of line.", lost: "Silent for too long, so out of line.", not_acknowledged: "The match was not acknowledged in time.", idle_vote: "Out of line.", date: "" },
  date_ended: { ended: "You ended the date.", partner_ended: "They ended the date.", partner_lost: "They were lost: the date is over.", time_up: "Time is up: the date is over." },
};

class Person {
  constructor(name, gender, seeking) {
    this.root = document.importNode(document.getElementById("person").content, true).firstElementChild;
    this.form = this.find("form");
    this.log = this.find(".log");
    this.suggested = { name, gender, seeking };
    this.count = 0;
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.signIn(); });
    this.form.elements.name.addEventListener("input", () => this.show());
    this.find(".actions").addEventListener("click", (event) => this.act(event.target.dataset.do));
    this.find("[name=beats]").addEventListener("change", (event) => this.log.classList.toggle("beats", event.target.checked));
    this.reset();
    setInterval(() => this.tick(), 100);
  }

  find(selector) { return this.root.querySelector(selector); }

  reset() {
    this.signOut();
    const suffix = Math.random().toString(36).slice(2, 6);
    const { name, gender, seeking } = this.suggested;
    for (const [field, value] of Object.entries({ name, gender, seeking, id: `${name.toLowerCase()}-${suffix}` })) this.form.elements[field].value = value;
    this.log.replaceChildren();
    this.show();
  }

  // The conversation

  async signIn() {
    const { name, id, gender, seeking } = Object.fromEntries(new FormData(this.form));
    const preferences = { seeking: [seeking], min_age: 18, max_age: 100, max_distance_km: 100 };
    const profile = { display_name: name, birth_date: "1998-04-02", gender, location: { lat: 52.52, lon: 13.4 }, time_zone: "Europe/Berlin", interests: ["climbing", "jazz"], preferences };
    this.signOut();
    const attempt = this.attempt;
    try {
      const answer = await fetch("/api/dev/login", { method: "POST", body: JSON.stringify({ user_id: id, profile }) });
      const body = await answer.json();
      if (attempt !== this.attempt) return;
      if (!answer.ok) return this.tell(body.detail);
      this.token = body.token;
      this.connect();
    } catch { this.tell("The server cannot be reached."); }
  }

  signOut() {
    this.attempt = (this.attempt ?? 0) + 1;
    clearTimeout(this.retry);
    clearInterval(this.beat);
    if (this.state && this.state !== "idle") this.send({ type: "leave" });
    this.socket?.close();
    Object.assign(this, { socket: null, token: null, online: false, welcomed: 0, session: null, seq: 0, wait: 500, state: null, credit: 0, match: null, date: null, clock: null });
    this.tell("");
  }

  connect() {
    const socket = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}/ws`, "yoked.v1");
    this.socket = socket;
    const resume = this.session ? { session: this.session, seq: this.seq } : undefined;
    socket.onopen = () => this.send({ type: "hello", token: this.token, resume });
    socket.onmessage = ({ data }) => { if (socket === this.socket) this.hear(JSON.parse(data)); };
    socket.onclose = ({ code, reason }) => { if (socket === this.socket) this.lose(code, reason); };
    this.show();
  }

  lose(code, reason) {
    clearInterval(this.beat);
    this.write("bad", "closed", { code, reason });
    if (FINAL[code]) {
      this.signOut();
      this.tell(FINAL[code]);
      return this.show();
    }
    this.online = false;
    this.tell("The line is cut; coming back.");
    this.retry = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(this.wait * 2, 5000);
    this.show();
  }

  send(command) {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    const { type, ...fields } = command;
    const id = `${type}-${++this.count}`;
    this.socket.send(JSON.stringify({ type, id, ...fields }));
    this.write(type === "heartbeat" ? "sent beat" : "sent", type, fields.token ? { ...fields, token: "…" } : fields);
  }

  hear(message) {
    const { type, re, seq, at, ...fields } = message;
    if (at) this.ahead = Date.parse(at) - Date.now();
    const command = re?.split("-")[0];
    this.write(type === "error" ? "bad" : command === "heartbeat" ? "beat" : "", command ? `${type} to ${command}` : type, fields);
    if (seq !== undefined) this.seq = seq;
    // The snapshot of a welcome holds what came before it, so events that are sent again are only logged.
    if (!(at && Date.parse(at) < this.welcomed)) this.take(type, command, message);
    this.show();
  }

  take(type, command, message) {
    switch (type) {
      case "welcome": {
        const { session, snapshot, heartbeat_every_s } = message;
        Object.assign(this, { session, welcomed: Date.parse(message.at), online: true, wait: 500, match: null, date: null, clock: null, ...snapshot });
        clearInterval(this.beat);
        this.beat = setInterval(() => this.send({ type: "heartbeat" }), Math.min(heartbeat_every_s, 3) * 1000);
        const by = this.match?.vote_by ?? this.match?.acknowledge_by ?? this.date?.ends_at;
        if (by) this.count_down(by);
        this.tell(message.resumed ? "Back, and nothing was missed." : "Signed in.");
        return this.greet();
      }
      case "error": return this.tell(`Refused: ${message.message}.`);
      case "ok":
        if (command === "vote" && !message.outcome) this.tell("Voted; the other one has not yet.");
        if (command === "vote" && this.match) this.match.voted = true;
        if (command === "acknowledge" && this.match) this.match.acknowledged = true;
        return;
      case "waiting": this.move("waiting"); return this.tell(STORIES.waiting[message.reason], message.reason === "requeued");
      case "tier": return this.tell(TIERS[message.tier]);
      case "nudge": return this.tell("Somebody who would suit is waiting: spin?");
      case "idle": this.move("idle"); return this.tell(STORIES.idle[message.reason], message.reason === "idle_vote");
      case "matched":
        this.move("matched");
        this.match = message;
        this.count_down(message.acknowledge_by, message.at);
        this.tell(`Here is ${describe(message.partner)}.`);
        return this.greet();
      case "voting":
        this.state = "voting";
        this.count_down(message.vote_by, message.at);
        return this.tell(`Meet ${describe(this.match.partner)}. Yes or pass?`);
      case "outcome": this.move(message.next); this.credit = message.credit; return this.tell(OUTCOMES[message.outcome]);
      case "match_cancelled": this.move(message.next); return this.tell(`The match is off: ${message.reason.replaceAll("_", " ")}.`);
      case "date_started":
        this.date = message;
        this.count_down(message.ends_at, message.at);
        return this.tell(`Both said yes: on a date with ${message.partner.display_name}.`);
      case "signal": return this.tell(message.data?.kind === "demo" ? `They say: ${message.data.text}` : "A signal has come.");
      case "date_ended": this.date = this.clock = null; return this.tell(STORIES.date_ended[message.reason]);
      case "offers": return this.tell(`Offers of the day: ${message.offers.map((one) => one.candidate.display_name).join(", ") || "nobody"}.`);
      case "connection": return this.tell(`You and ${message.partner.display_name} have accepted each other.`);
      case "draining": this.wait = message.reconnect_after_s * 1000;
    }
  }

  greet() {
    if (this.state === "matched" && !this.match.acknowledged && this.find("[name=auto]").checked) this.act("acknowledge");
  }

  move(state) { Object.assign(this, { state, match: null, clock: null }); }

  act(what) {
    const match_id = this.match?.match_id;
    switch (what) {
      case "spin": case "leave": return this.send({ type: what });
      case "acknowledge": return this.send({ type: what, match_id });
      case "yes": case "pass": return this.send({ type: "vote", match_id, vote: what });
      case "end": return this.send({ type: "end_date", date_id: this.date.date_id });
      case "cut": return this.socket.close();
      case "out": this.signOut(); return this.show();
    }
  }

  // What is seen

  count_down(by, from) { this.clock = { by: Date.parse(by), length: Date.parse(by) - (from ? Date.parse(from) : Date.now() + this.ahead) }; }

  tell(story, goes_on) {
    const said = this.find(".story");
    said.textContent = goes_on ? `${said.textContent} ${story}` : story;
  }

  tick() {
    this.find(".clock").hidden = !this.clock;
    if (!this.clock) return;
    const left = Math.max(0, this.clock.by - Date.now() - this.ahead);
    Object.assign(this.find("progress"), { max: this.clock.length, value: left });
    this.find("[role=timer]").textContent = `${(left / 1000).toFixed(1)} s`;
  }

  show() {
    const { state, match, date, token } = this;
    const focused = document.activeElement;
    const online = token && this.online && this.socket.readyState === WebSocket.OPEN;
    this.find("h2").textContent = this.form.elements.name.value;
    this.log.setAttribute("aria-label", `Messages of ${this.form.elements.name.value}`);
    this.form.hidden = Boolean(token);
    this.find(".state").textContent = !token ? "signed out" : !online ? "offline" : date ? "on a date" : state;
    this.find(".credit").textContent = online && this.credit ? `credit ${this.credit}` : "";
    const may = {
      spin: online && !date && state === "idle",
      acknowledge: online && state === "matched" && !match.acknowledged,
      yes: online && state === "voting" && !match.voted,
      end: online && date,
      leave: online && state !== "idle",
      cut: online,
      out: token,
    };
    may.pass = may.yes;
    for (const button of this.root.querySelectorAll("[data-do]")) button.hidden = !may[button.dataset.do];
    // Who works with the keyboard is not thrown out of the panel when a button goes.
    if (this.root.contains(focused) && focused.closest("[hidden]")) this.find("h2").focus();
    this.tick();
  }

  write(kind, name, fields) {
    const line = document.createElement("li");
    line.className = kind;
    const title = document.createElement("b");
    title.textContent = `${kind.startsWith("sent") ? "→" : "←"} ${name}`;
    const rest = document.createElement("span");
    rest.textContent = Object.entries(fields).filter(([, value]) => value !== undefined).map(([key, value]) => ` ${key}: ${JSON.stringify(value)}`).join(",");
    line.append(title, rest);
    const follow = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    this.log.append(line);
    if (this.log.children.length > 300) this.log.firstElementChild.remove();
    if (follow) this.log.scrollTop = this.log.scrollHeight;
  }
}

function describe({ display_name, age, distance_km, interests }) {
  return `${display_name}, ${age}, ${distance_km} km away${interests.length ? `, likes ${interests.join(" and ")}` : ""}`;
}

const people = [new Person("Ana", "woman", "man"), new Person("Ben", "man", "woman")];
document.getElementById("people").append(...people.map((person) => person.root));
document.getElementById("fresh").addEventListener("click", () => people.forEach((person) => person.reset()));
