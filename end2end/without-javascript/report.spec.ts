import { Api } from "../api";
import { expect, test } from "../fixtures";

test("a post, a comment and a person are reported, from a link beside each", async ({
  page,
  person,
  secondWindow,
}) => {
  const other = new Api((await secondWindow()).request);
  const rude = await other.signUp();
  const post = await other.post(`${rude.name} shouts`);
  await other.comment(post.id, `${rude.name} shouts again`);
  const form = page.getByTestId("report-form");
  const thanks = page.getByText("Thank you. The people who run this site will look at it.");

  await page.goto(`/post/${post.id}`);
  await page.getByRole("link", { name: "Report this post" }).click();
  await expect(page.getByRole("heading", { name: "Report" })).toBeVisible();
  await form.getByRole("button", { name: "Send report" }).click();
  await expect(form.getByLabel("What is wrong?")).toHaveAttribute("aria-invalid", "true");
  await expect(form).toContainText("A report is empty: write something first.");
  await form.getByLabel("What is wrong?").fill(`${person.name} cannot sleep`);
  await form.getByRole("button", { name: "Send report" }).click();
  await expect(page).toHaveURL(`/post/${post.id}`);
  await expect(thanks).toBeVisible();

  await page.getByRole("link", { name: "Report this comment" }).click();
  await form.getByLabel("What is wrong?").fill("Still shouting");
  await form.getByRole("button", { name: "Send report" }).click();
  await expect(thanks).toBeVisible();

  await page.goto(`/@${rude.handle}`);
  await page.getByText("More", { exact: true }).click();
  await page.getByRole("link", { name: `Report @${rude.handle}` }).click();
  await page.getByRole("link", { name: "Go back" }).click();
  await expect(page).toHaveURL(`/@${rude.handle}`);

  const all = await (await page.request.get("/api/v1/me/export")).json();
  expect(all.reports.map((report: { text: string }) => report.text).sort()).toEqual([
    "Still shouting",
    `${person.name} cannot sleep`,
  ]);
});
