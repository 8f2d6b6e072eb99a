// Keys for people who review all day. Every page works without this file; no key records anything by itself.
"use strict";

(() => {
  const dialog = document.getElementById("keys");
  const onReview = document.querySelector("main[data-keys='review']") !== null;
  let waitsForPlace = 0;

  for (const each of document.querySelectorAll(".js-only")) each.hidden = false;
  for (const button of document.querySelectorAll("[data-shows='keys']")) {
    button.addEventListener("click", () => dialog.showModal());
  }

  const isTyping = (target) =>
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox]):not([type=radio])"));

  function step(list, by) {
    if (list.length === 0) return;
    const here = list.findIndex((each) => each === document.activeElement || each.contains(document.activeElement));
    const at = here === -1 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(here + by, 0), list.length - 1);
    list[at].focus();
    list[at].scrollIntoView({ block: "nearest" });
  }

  function choose(verdict) {
    const radio = document.getElementById(verdict);
    if (!radio) return;
    radio.checked = true;
    const following = document.getElementById(verdict === "accept" ? "record" : "comment");
    following.focus();
    following.scrollIntoView({ block: "center" });
  }

  const anywhere = {
    j: () => step([...document.querySelectorAll("[data-row]")], 1),
    k: () => step([...document.querySelectorAll("[data-row]")], -1),
    g: () => { waitsForPlace = Date.now() + 1500; },
    "?": () => dialog && dialog.showModal(),
  };
  const inReview = {
    a: () => choose("accept"),
    r: () => choose("return"),
    x: () => choose("reject"),
    c: () => document.getElementById("comment")?.focus(),
    f: () => step([...document.querySelectorAll("[data-finding]")], 1),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape" && isTyping(event.target)) { event.target.blur(); return; }
    if (isTyping(event.target) || (dialog && dialog.open)) return;
    if (waitsForPlace > Date.now() && event.key === "i") { location.assign("/"); return; }
    waitsForPlace = 0;
    const act = (onReview && inReview[event.key]) || anywhere[event.key];
    if (act) { event.preventDefault(); act(); }
  });

  // A decision is sent once, however often its button is pressed; the server would take it as one, too.
  for (const form of document.querySelectorAll("form[method='post']")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) { event.preventDefault(); return; }
      form.dataset.sent = "yes";
      setTimeout(() => { delete form.dataset.sent; }, 8000);
    });
  }
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });
})();
