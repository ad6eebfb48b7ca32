import { livesInTown } from "../api";
import { expect, test } from "../fixtures";
import { followLinksAcross } from "../lists";

test("the likers of the viral post are paged through by links across two seams", async ({ page, api }) => {
  test.slow();
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}/likes`);

  const { handles } = await followLinksAcross(page, 2);

  expect(new Set(handles).size, "nobody is shown twice").toBe(handles.length);
  const expected = await api.people(`posts/${viral.id}/likes`, handles.length);
  const inTown = handles.filter(livesInTown);
  expect(inTown).toEqual(expected.filter(livesInTown).slice(0, inTown.length));
});

test("a short list ends without a dead link", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} is quiet`);
  await page.goto(`/post/${post.id}/likes`);
  await expect(page.getByTestId("load-more")).toHaveCount(0);
});
