// @ts-check
// Moving the slider of the tuner follows the link to its budget: the pane fetches that page. A number can also be typed.
document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.type !== "range" || !target.form) return;
  const budget = new URLSearchParams({ relation: target.form.relation.value, kb: target.value });
  const link = document.createElement("a");
  link.href = `?${budget}`;
  target.after(link);
  link.click();
});
