import { Api } from "../api";
import { expect, gotoLive, REFUSALS, test } from "../fixtures";

test.use({ tolerated: REFUSALS });

test("home names the author of each post and of each of its buttons", async ({ page, api, person }) => {
  await api.post("Said by ear");
  await page.goto("/");
  await expect(page.getByRole("banner")).toMatchAriaSnapshot(`
    - banner:
      - link "Spillway, home page"
      - navigation "Main":
        - link "Home"
        - link "Explore"
      - link "Your page, ${person.name}"
      - button "Sign out"
  `);
  await expect(page.getByRole("main")).toMatchAriaSnapshot(`
    - main:
      - heading "Home" [level=1]
      - textbox "Write a post"
      - button "Post"
      - feed "Posts":
        - 'article "${person.name}: Said by ear"':
          - paragraph:
            - link "${person.name}"
            - link "now":
              - time: now
          - paragraph: Said by ear
          - 'button "Like the post by ${person.name}. Likes: 0"'
          - 'link "Comments on the post by ${person.name}: 0"'
          - 'button "Share the post by ${person.name}. Shares: 0"'
          - meter "How the likes of the post by ${person.name} are stored"
          - group: How this is stored (the post by ${person.name})
          - group: Delete this post
  `);
});

test("a post is read with its comments, and the meter in words", async ({ page, api, person }) => {
  const post = await api.post("Said by ear");
  await api.comment(post.id, "Heard");
  await api.like(post.id);
  await page.goto(`/post/${post.id}`);
  await expect(page.getByRole("main")).toMatchAriaSnapshot(`
    - main:
      - heading "Post by ${person.name}" [level=1]
      - article:
        - 'button "Like the post by ${person.name}. Likes: 1" [pressed]'
      - navigation "About this post":
        - link "1 like"
        - link "0 shares"
      - region "Comments":
        - heading "Comments" [level=2]
        - textbox "Write a comment"
        - button "Comment"
        - feed "Comments":
          - article "Comment by ${person.name}":
            - paragraph: Heard
  `);
  const meter = page.getByRole("meter").first();
  await expect(meter).toHaveAttribute("aria-valuetext", /^1 of [\d,]+ likes in the head, no overflow$/);
});

test("a long list announces the reader's position, also across a seam", async ({ page, api }) => {
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}/likes`);
  await expect(page.getByRole("main")).toMatchAriaSnapshot(`
    - main:
      - heading /Likes [\\d,]+/ [level=1]
      - paragraph:
        - link "The post by ${viral.author.name}"
      - paragraph:
        - link "Oldest first"
      - feed "Likes":
        - article:
          - paragraph:
            - link
            - time
  `);
  const items = page.getByRole("feed").getByRole("article");
  const told = await items.evaluateAll((all) =>
    all.map(({ ariaPosInSet, ariaSetSize, ariaLabel }) => ({
      ariaPosInSet,
      ariaSetSize,
      named: !!ariaLabel,
    })),
  );
  expect(told.length).toBeGreaterThanOrEqual(50);
  const size = told[0]!.ariaSetSize;
  expect(Number(size)).toBeGreaterThanOrEqual(viral.likes);
  expect(told).toEqual(
    told.map((_, place) => ({ ariaPosInSet: String(place + 1), ariaSetSize: size, named: true })),
  );
});

test("a profile is read as a person, their numbers and their posts", async ({ page, api }) => {
  const handle = await api.celebrity();
  await page.goto(`/@${handle}`);
  await expect(page.getByRole("main")).toMatchAriaSnapshot(`
    - main:
      - heading [level=1]
      - button "Follow @${handle}"
      - list:
        - listitem:
          - link /[\\d,]+ followers/
        - listitem:
          - link /[\\d,]+ following/
      - meter /How the followers of .+ are stored/
      - navigation "About @${handle}":
        - link "Posts"
        - link "Activity"
        - link "Followers"
        - link "Following"
      - feed "Posts"
  `);
});

test("settings are five regions, each with its name", async ({ page, person }) => {
  await page.goto("/settings");
  await expect(page.getByRole("main")).toMatchAriaSnapshot(`
    - main:
      - heading "Settings" [level=1]
      - region "Profile":
        - heading "Profile" [level=2]
        - textbox "Name": ${person.name}
        - textbox "Bio"
        - button "Save profile"
      - region "Password":
        - textbox "Current password"
        - textbox "New password"
        - button "Change password"
      - region "Sessions":
        - link "Show my sessions"
      - region "Your data":
        - link "Download my data"
      - region "Delete your account":
        - group: Delete my account…
  `);
});

test("new posts are announced politely, and nothing else interrupts", async ({ page, api, secondWindow }) => {
  const author = new Api((await secondWindow()).request);
  const { handle } = await author.signUp();
  await author.post("The first");
  await api.signUp();
  await api.follow(handle);
  await gotoLive(page, "/");
  const told = page.getByRole("status").filter({ has: page.getByTestId("new-posts") });
  await expect(told).toHaveCount(1);
  await author.post("The second");
  await expect(told).toHaveText("1 new post");
  await expect(page.locator("[aria-live=assertive]")).toHaveCount(0);
  await expect(page.getByRole("alert").filter({ hasText: /\S/, visible: true })).toHaveCount(0);
});

test("the keys are listed beside a list, and ? leads there", async ({ page }) => {
  await page.goto("/explore");
  const keys = page.getByRole("group", { name: "Keys" });
  await expect(keys).toMatchAriaSnapshot(`
    - group "Keys":
      - heading "Keys" [level=2]
      - list:
        - listitem: j and k go down and up a list; within it, Page Down and Page Up do, too
        - listitem: Enter opens the post
        - listitem: l likes it, r replies to it
        - listitem: n writes a new post, / searches
        - listitem: g then h goes home, g then e to Explore, g then n to the notifications
        - listitem: "? leads here"
      - checkbox "Use these keys on this device" [checked]
  `);
  await expect(async () => {
    await page.keyboard.press("?");
    await expect(keys).toBeFocused({ timeout: 100 });
  }).toPass();
  await expect(keys).toBeInViewport();
});
