import { expect, gotoLive, test } from "../fixtures";
import { openingAPost } from "../opening";

openingAPost();

test("text of a post can be selected without opening it", async ({ page, api, person }) => {
  await api.post(`${person.name} wrote a few words that somebody copies`);
  await gotoLive(page, `/@${person.handle}`);
  const box = (await page.getByTestId("post-text").boundingBox())!;
  await page.mouse.move(box.x + 2, box.y + 12);
  await page.mouse.down();
  await page.mouse.move(box.x + 120, box.y + 12, { steps: 5 });
  await page.mouse.up();
  expect(await page.evaluate(() => getSelection()!.toString().length)).toBeGreaterThan(3);
  await expect(page).toHaveURL(`/@${person.handle}`);
});

test("the text of a quoted post opens that post", async ({ page, api, person }) => {
  const quoted = await api.post(`${person.name} wrote this first`);
  await api.quote(quoted.id, "And this about it");
  await gotoLive(page, `/@${person.handle}`);
  await page.getByTestId("quote").getByText("wrote this first").click();
  await expect(page).toHaveURL(`/post/${quoted.id}`);
});
