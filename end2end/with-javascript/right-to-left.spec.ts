import { expect, test } from "../fixtures";

for (const what of ["post", "comment"]) {
  test(`a handle and a tag in a ${what} from right to left stay in one piece`, async ({
    page,
    api,
    person,
  }) => {
    const text = `שלום @${person.handle} וגם #weir שלום`;
    const post = await api.post(what === "post" ? text : "Hello");
    await api.comment(post.id, what === "post" ? "Hello" : text);
    await page.goto(`/post/${post.id}`);
    const written = page.locator(`.${what}-text`).filter({ hasText: "שלום" });
    for (const name of [`@${person.handle}`, "#weir"]) {
      const places = await written.getByRole("link", { name }).evaluate((link) => {
        const text = document.createTreeWalker(link, NodeFilter.SHOW_TEXT).nextNode()!;
        const place = (from: number) => {
          const range = document.createRange();
          range.setStart(text, from);
          range.setEnd(text, from + 1);
          return range.getBoundingClientRect().left;
        };
        return { sign: place(0), letter: place(1) };
      });
      expect(places.sign, `${name} begins with its sign`).toBeLessThan(places.letter);
    }
  });
}
