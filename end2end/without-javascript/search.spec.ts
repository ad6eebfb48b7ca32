import { expect, test } from "../fixtures";

test("a post is found again by its words, and a person by how their name begins", async ({
  page,
  api,
  person,
}) => {
  const word = `w${person.handle.replaceAll("-", "")}`;
  const post = await api.post(`${word} stands in the #river`);
  const liked = await api.post(`${word} again`);
  await api.like(post.id);

  await page.goto("/explore");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Search" }).click();
  await page.getByTestId("search-input").fill(word.toUpperCase());
  await page.getByRole("main").getByRole("button", { name: "Search" }).click();
  const texts = page.getByTestId("search-result").getByTestId("post-text");
  await expect(texts).toHaveText([`${word} again`, `${word} stands in the #river`]);
  await expect(texts.first().locator("mark")).toHaveText(word);

  await page.getByRole("link", { name: "Most liked" }).click();
  await expect(texts).toHaveText([`${word} stands in the #river`, `${word} again`]);

  await page.getByTestId("search-input").fill(`#river ${word}`);
  await page.getByRole("main").getByRole("button", { name: "Search" }).click();
  await expect(texts).toHaveText([`${word} stands in the #river`]);
  expect(new URL(page.url()).searchParams.get("order"), "the order stays").toBe("liked");

  await page.getByTestId("search-input").fill(person.handle.slice(0, -1));
  await page.getByRole("main").getByRole("button", { name: "Search" }).click();
  await page.getByRole("link", { name: "People" }).click();
  const people = page.getByTestId("search-result");
  await people.getByRole("link", { name: person.name }).first().click();
  await expect(page).toHaveURL(`/@${person.handle}`);
  expect(liked.id).not.toBe(post.id);
});
