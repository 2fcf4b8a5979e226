// The API reference on a server with --dev: a form to try each call.

/** Create an element. */
function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const who = document.getElementById("try-user");
const token = document.getElementById("try-token");

/** Call the server. */
async function call(method, path, body) {
  const headers = {};
  if (token.value.trim()) headers.Authorization = `Bearer ${token.value.trim()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, { method, headers, body, cache: "no-store" });
  const text = await response.text();
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch { /* not JSON: shown as it is */ }
  return { status: `${response.status} ${response.statusText}`, ok: response.ok, shown };
}

/** The form of one call. */
function form(section) {
  const { method, path } = section.dataset;
  const id = section.getAttribute("aria-labelledby");
  const names = [...path.matchAll(/{(\w+)}/g)].map(([, name]) => name);
  const fields = new Map();
  const rows = [];
  const field = (key, label, element) => {
    element.id = `${id}-${key}`;
    fields.set(key, element);
    rows.push(h("label", { for: element.id }, label), element);
  };
  for (const name of names) field(name, name, h("input", { autocomplete: "off", spellcheck: "false", required: "" }));
  if (section.dataset.query) field("?", "Query", h("input", { autocomplete: "off", spellcheck: "false", placeholder: section.dataset.query }));
  const example = section.querySelector("[data-body]")?.textContent;
  if (example) {
    const body = h("textarea", { rows: Math.min(12, example.split("\n").length + 1), spellcheck: "false" });
    body.value = example;
    field("body", "Body", body);
  }
  const status = h("p", { role: "status" });
  const result = h("pre", { tabindex: "0", role: "group", "aria-label": `Response of ${method} ${path}`, hidden: "" });
  const send = async (event) => {
    event.preventDefault();
    const target = path.replace(/{(\w+)}/g, (_, name) => encodeURIComponent(fields.get(name).value));
    const query = fields.get("?")?.value.replace(/^\?/, "") ?? "";
    status.textContent = "Sending…";
    try {
      const answer = await call(method, query ? `${target}?${query}` : target, fields.get("body")?.value);
      status.textContent = answer.status;
      status.className = answer.ok ? "good" : "bad";
      result.textContent = answer.shown || "(empty)";
    } catch {
      status.textContent = "The server cannot be reached.";
      status.className = "bad";
      result.textContent = "";
    }
    result.hidden = result.textContent === "";
  };
  return h("form", { class: "try", onsubmit: send }, ...rows, h("button", { type: "submit" }, `Send ${method}`), status, result);
}

document.getElementById("try-login").addEventListener("submit", async (event) => {
  event.preventDefault();
  const status = document.getElementById("try-status");
  const answer = await call("POST", "/api/dev/login", JSON.stringify({ user_id: who.value.trim() }));
  if (answer.ok) token.value = JSON.parse(answer.shown).token;
  status.textContent = answer.ok ? `You are ${who.value.trim()}.` : JSON.parse(answer.shown).detail ?? answer.status;
});
for (const section of document.querySelectorAll("section[data-path]")) {
  const details = h("details", { class: "try-it" }, h("summary", {}, "Try it"));
  details.addEventListener("toggle", () => { if (details.open && details.children.length === 1) details.append(form(section)); });
  section.append(details);
}
