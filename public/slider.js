// @ts-check
// The slider of the tuner shows the budget while it moves, and then follows the link to that budget: the pane fetches its
// page. A number can also be typed.

/** The slider, if it is what an event is about. @param {Event} event */
function slider({ target }) {
  return target instanceof HTMLInputElement && target.type === "range" ? target : undefined;
}

document.addEventListener("input", (event) => {
  const shown = slider(event)?.form?.querySelector("output");
  if (shown) shown.value = `${slider(event)?.value} KB`;
});

document.addEventListener("change", (event) => {
  const chosen = slider(event);
  if (!chosen?.form) return;
  const budget = new URLSearchParams({ relation: chosen.form.relation.value, kb: chosen.value });
  const link = document.createElement("a");
  link.href = `?${budget}`;
  chosen.after(link);
  link.click();
  link.remove();
});
