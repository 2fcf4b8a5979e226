// The API reference: search.

const search = document.getElementById("search");
const found = document.getElementById("found");
const sections = [...document.querySelectorAll("main section[data-search]")];
const headings = [...document.querySelectorAll("main > h2, main > h3.group")];

/** Show the sections that contain every word. */
function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const section of sections) {
    const text = section.dataset.search;
    section.hidden = !words.every((word) => text.includes(word));
    if (!section.hidden) count += 1;
  }
  document.body.classList.toggle("searching", words.length > 0);
  for (const heading of headings) {
    const own = sections.filter((section) => section.dataset.part === heading.id || section.dataset.group === heading.id);
    heading.hidden = words.length > 0 && own.every((section) => section.hidden);
  }
  found.textContent = words.length === 0 ? "" : count === 1 ? "1 entry found." : `${count} entries found.`;
}
search.addEventListener("input", filter);
search.form.addEventListener("submit", (event) => event.preventDefault());
// A link to an entry that the search hides would lead nowhere.
addEventListener("hashchange", () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.closest("[hidden]")) {
    search.value = "";
    filter();
    target.scrollIntoView();
  }
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  search.focus();
});
