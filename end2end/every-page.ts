import { type Page, request } from "@playwright/test";
import { Api } from "./api";
import { expect } from "./fixtures";

/** A page as one kind of visitor sees it. */
export interface Sight {
  name: string;
  /** Goes there, after the necessary preparation. */
  open: (page: Page, api: Api) => Promise<void>;
}

const at =
  (path: string | ((api: Api) => Promise<string>)): Sight["open"] =>
  async (page, api) => {
    await page.goto(typeof path === "string" ? path : await path(api));
  };

const viral = (rest = "") => at(async (api) => `/post/${(await api.viralPost()).id}${rest}`);
const author = (rest = "") => at(async (api) => `/@${(await api.viralPost()).author.handle}${rest}`);

/** Every page, for each kind of visitor who sees it differently. */
export const EVERY_PAGE: Sight[] = [
  { name: "home of a stranger", open: at("/") },
  { name: "home of a newcomer", open: signedIn("/") },
  { name: "home of somebody who follows", open: homeOfAFollower },
  { name: "explore", open: at("/explore") },
  { name: "rising posts", open: at("/explore?order=rising") },
  { name: "a tag", open: at("/tags/ferrygoose") },
  { name: "a tag without posts", open: at("/tags/nobodyusesthis") },
  { name: "search", open: at("/search") },
  { name: "posts with a word", open: at("/search?q=the") },
  { name: "the most liked posts with two words", open: at("/search?q=the+river&order=liked") },
  { name: "people whose names begin alike", open: at("/search?q=a&kind=people") },
  { name: "nothing found", open: at("/search?q=nobodywritesthis") },
  { name: "the viral post", open: viral() },
  { name: "the viral post with its drawer open", open: withDrawer },
  { name: "the viral post from its oldest comment", open: viral("?order=oldest") },
  { name: "a post of one's own", open: ownPost },
  { name: "likes", open: viral("/likes") },
  { name: "likes at a seam", open: atASeam },
  { name: "shares", open: viral("/shares") },
  { name: "how a post is stored", open: viral("/stored") },
  { name: "a profile", open: author() },
  { name: "a profile of one's own", open: ownProfile },
  { name: "bookmarks", open: bookmarks },
  { name: "no bookmarks", open: noBookmarks },
  { name: "notifications", open: notifications },
  { name: "no notifications", open: noNotifications },
  { name: "hidden posts", open: hiddenPosts },
  { name: "muted people", open: restricted("mute", "/mutes") },
  { name: "blocked people", open: restricted("block", "/blocks") },
  { name: "somebody who is muted", open: restricted("mute") },
  { name: "somebody who is blocked", open: restricted("block") },
  { name: "a report", open: report },
  { name: "an empty report", open: reportRefused },
  { name: "activity", open: author("/activity") },
  { name: "following", open: author("/following") },
  { name: "followers of the celebrity", open: at(async (api) => `/@${await api.celebrity()}/followers`) },
  { name: "how a person is stored", open: author("/stored") },
  { name: "settings", open: signedIn("/settings") },
  { name: "settings about to be deleted", open: aboutToLeave },
  { name: "settings with what does not fit", open: settingsRefused },
  { name: "sessions", open: sessions },
  { name: "what to be told of", open: signedIn("/settings/notifications") },
  { name: "a comment with a reply", open: replied },
  { name: "shared and quoted posts", open: sharedAndQuoted },
  { name: "sign in", open: at("/login") },
  { name: "the way into the demo town", open: at("/login?demo=first") },
  { name: "sign in refused", open: signInRefused },
  { name: "a lost password", open: at("/recover") },
  { name: "sign up", open: at("/signup") },
  { name: "sign up with what does not fit", open: signUpRefused },
  { name: "the API", open: at("/api") },
  { name: "the workshop", open: at("/lab") },
  { name: "the race stepped by hand", open: at("/lab/race?clicks=abab") },
  { name: "the race on a projector", open: projected("/lab/race?clicks=abab") },
  { name: "the crash on a projector", open: projected("/lab/crash?operation=append-again&after=2") },
  { name: "the crash", open: at("/lab/crash?operation=append-that-spills&layout=ours&after=1") },
  { name: "whom to inspect", open: at("/lab/inspect") },
  { name: "the exercises", open: at("/lab/exercises?exercise=2&answer=abab") },
  { name: "a class on a server without one", open: at("/lab/class") },
  { name: "nobody to inspect", open: at("/lab/inspect?find=nobody-of-that-name") },
  { name: "the viral post inspected", open: inspected("?page=3") },
  { name: "a person inspected", open: at(async (api) => `/lab/inspect/user:${await api.celebrity()}`) },
  { name: "what reading costs", open: at("/lab/trace") },
  { name: "a question of the decision guide", open: at("/lab/decide?sizes=differ") },
  {
    name: "an answer of the decision guide",
    open: at("/lab/decide?sizes=differ&largest=tenfold&share=few"),
  },
  { name: "the readings of a sensor", open: at("/lab/readings?hour=storm") },
  { name: "the ledger", open: at("/lab/ledger?case=full&way=one-write&after=2") },
  { name: "the ledger on a projector", open: projected("/lab/ledger?case=old") },
  { name: "the console of a stranger", open: at("/lab/console?line=db.posts.findOne%28%29") },
  { name: "the console", open: usedConsole },
  { name: "the storm of a stranger", open: at("/lab/storm") },
  { name: "the storm", open: storm },
  { name: "the storm with more than a laptop bears", open: stormRefused },
  { name: "the migration", open: afterAMigration },
  { name: "the migration of a stranger", open: at("/lab/migrate") },
  { name: "the race of the layouts", open: afterARaceOfLayouts },
  { name: "a crash while following", open: at("/lab/crash?operation=follow-again&layout=ours&after=4") },
  { name: "the tuner of a stranger", open: at("/lab/tune?kb=4") },
  { name: "the tuner, measured", open: afterALayOut },
  { name: "a page that is not there", open: at("/no/such/page") },
  { name: "a post that is not there", open: at("/post/00000000-0000-4000-8000-000000000000") },
];

function inspected(query: string): Sight["open"] {
  return at(async (api) => `/lab/inspect/post:${(await api.viralPost()).id}${query}`);
}

function signedIn(path: string): Sight["open"] {
  return async (page, api) => {
    await api.signUp();
    await page.goto(path);
  };
}

function projected(path: string): Sight["open"] {
  return async (page) => {
    await page.goto(path);
    await page.evaluate(() => localStorage.setItem("projector", "on"));
    await page.reload();
  };
}

async function usedConsole(page: Page): Promise<void> {
  await page.goto("/lab/console");
  for (const line of ["db.posts.findOne()", "db.pages.find()", "db.posts.find("]) {
    await page.getByTestId("console-input").fill(line);
    await page.getByRole("button", { name: "Run" }).click();
    await expect(page.getByTestId("console-output").getByText(line, { exact: true })).toBeVisible();
  }
}

export async function storm(page: Page, api: Api): Promise<void> {
  await signedIn("/lab/storm")(page, api);
  await page.getByLabel("Seconds").fill("2");
  await page.getByRole("button", { name: "Start the storm" }).click();
  // If somebody else's is running, that one will do.
  await expect(page.getByTestId("verdict")).toBeVisible({ timeout: 20_000 });
}

async function stormRefused(page: Page, api: Api): Promise<void> {
  await signedIn("/lab/storm")(page, api);
  const rate = page.getByLabel("Likes a second");
  await rate.evaluate((input) => input.removeAttribute("max"));
  await rate.fill("1000000");
  await page.getByRole("button", { name: "Start the storm" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
}

export async function afterAMigration(page: Page, api: Api): Promise<void> {
  await signedIn("/lab/migrate")(page, api);
  await page.getByLabel("The array has").selectOption("1000");
  await page.getByRole("button", { name: "Start the likes and the migration" }).click();
  // If somebody else's is running, that one will do.
  await expect(page.getByTestId("verdict")).toBeVisible({ timeout: 20_000 });
}

async function afterALayOut(page: Page, api: Api): Promise<void> {
  await signedIn("/lab/tune?kb=4")(page, api);
  // If somebody else's list is being laid out, that one will do.
  const layOut = page.getByRole("button", { name: "Create a list with these limits" });
  if (await layOut.isVisible()) {
    await layOut.click();
  }
  await expect(async () => {
    await page.goto("/lab/tune?kb=4");
    await expect(page.getByTestId("verdict")).toBeVisible({ timeout: 500 });
  }).toPass();
}

export async function afterARaceOfLayouts(page: Page, api: Api): Promise<void> {
  await api.signUp();
  await api.raceLayouts(100);
  // Somebody else's race may have just begun.
  await expect(async () => {
    await page.goto("/lab/layouts");
    await expect(page.getByTestId("run")).toContainText("is finished", { timeout: 500 });
  }).toPass();
}

async function homeOfAFollower(page: Page, api: Api): Promise<void> {
  await api.signUp();
  await api.follow(await api.celebrity());
  await page.goto("/");
  await expect(page.getByTestId("post").first()).toBeVisible();
}

async function withDrawer(page: Page, api: Api): Promise<void> {
  await viral()(page, api);
  const drawer = page.locator(".drawer").first();
  // Until the island is awake, the drawer opens to a link and stays empty.
  await expect(async () => {
    await drawer.locator("summary").click();
    await expect(drawer.locator(".stored")).toBeVisible({ timeout: 500 });
  }).toPass();
}

async function ownPost(page: Page, api: Api): Promise<void> {
  const person = await api.signUp();
  const post = await api.post(`${person.name} wrote a #tag and https://example.org/an/address`);
  await api.comment(post.id, "And a comment");
  await page.goto(`/post/${post.id}`);
  for (const closed of await page.locator("main details.delete").all()) {
    await closed.locator("summary").click();
  }
}

async function atASeam(page: Page, api: Api): Promise<void> {
  await viral("/likes")(page, api);
  const seam = page.getByTestId("seam").first();
  await expect(async () => {
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
    await expect(seam).toBeVisible({ timeout: 200 });
  }).toPass();
  await seam.scrollIntoViewIfNeeded();
}

async function ownProfile(page: Page, api: Api): Promise<void> {
  const person = await api.signUp();
  await api.post(`${person.name} is here`);
  await page.goto(`/@${person.handle}`);
}

async function bookmarks(page: Page, api: Api): Promise<void> {
  const person = await api.signUp();
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}`);
  await page.getByRole("button", { name: "Bookmark" }).click();
  await expect(page.getByRole("button", { name: "Bookmarked" })).toHaveAttribute("aria-pressed", "true");
  await page.goto(`/@${person.handle}/bookmarks`);
}

async function noBookmarks(page: Page, api: Api): Promise<void> {
  const person = await api.signUp();
  await page.goto(`/@${person.handle}/bookmarks`);
}

async function notifications(page: Page, api: Api): Promise<void> {
  const person = await api.signUp();
  const post = await api.post(`${person.name} is here`);
  await page.goto("/");
  const elsewhere = await request.newContext({ baseURL: new URL("/", page.url()).href });
  const other = new Api(elsewhere);
  await other.signUp();
  await other.like(post.id);
  await other.comment(post.id, `Welcome, @${person.handle}!`);
  await elsewhere.dispose();
  await expect(async () => {
    await page.goto(`/@${person.handle}/notifications`);
    await expect(page.getByTestId("notification")).toHaveCount(2, { timeout: 200 });
  }).toPass();
}

async function noNotifications(page: Page, api: Api): Promise<void> {
  const person = await api.signUp();
  await page.goto(`/@${person.handle}/notifications`);
}

async function hiddenPosts(page: Page, api: Api): Promise<void> {
  const person = await api.signUp();
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}`);
  await page.getByRole("button", { name: "Hide from my feeds" }).click();
  await expect(page.getByRole("button", { name: "Show in my feeds again" })).toBeVisible();
  await page.goto(`/@${person.handle}/hidden`);
}

/** Mutes or blocks the celebrity, and opens this list of the reader, or the celebrity's page. */
function restricted(action: "mute" | "block", list?: string) {
  return async (page: Page, api: Api): Promise<void> => {
    const person = await api.signUp();
    const celebrity = await api.celebrity();
    await api.restrict(celebrity, action);
    await page.goto(list ? `/@${person.handle}${list}` : `/@${celebrity}`);
  };
}

/** The form that reports the viral post. */
async function report(page: Page, api: Api): Promise<void> {
  await api.signUp();
  await page.goto(`/report?target=post:${(await api.viralPost()).id}`);
}

async function reportRefused(page: Page, api: Api): Promise<void> {
  await report(page, api);
  await page.getByRole("button", { name: "Send report" }).click();
  await expect(page.getByLabel("What is wrong?")).toHaveAttribute("aria-invalid", "true");
}

async function aboutToLeave(page: Page, api: Api): Promise<void> {
  await signedIn("/settings")(page, api);
  await page.getByText("Delete my account…").click();
}

async function settingsRefused(page: Page, api: Api): Promise<void> {
  await signedIn("/settings")(page, api);
  await page.getByLabel("Name", { exact: true }).fill("");
  await page.getByLabel("Bio").fill("far too long ".repeat(20));
  await page.getByRole("button", { name: "Save profile" }).click();
  await expect(page.locator("[aria-invalid=true]")).toHaveCount(2);
}

async function replied(page: Page, api: Api): Promise<void> {
  await signedIn("/")(page, api);
  const post = await api.post("A post with comments");
  const comment = await api.comment(post.id, "A comment to answer");
  await page.goto(`/post/${post.id}?comment=${comment.id}`);
  const rows = page.getByTestId("comment");
  await rows.locator("details.edit > summary").first().click();
  await rows.getByLabel("Your reply").fill("An answer");
  await rows.getByTestId("reply-form").getByRole("button").click();
  await expect(rows).toHaveCount(2);
  await rows.first().locator("details.edit > summary").first().click();
  // A control that the masthead covers by half counts as too small.
  await page.evaluate(() => window.scrollTo(0, 0));
}

async function sharedAndQuoted(page: Page, api: Api): Promise<void> {
  const { handle } = await api.signUp();
  const { id } = await api.viralPost();
  const share = await page.request.put(`/api/v1/posts/${id}/share`);
  expect(share.ok(), await share.text()).toBe(true);
  await api.quote(id, "What a story");
  await page.goto(`/@${handle}`);
  await expect(page.getByTestId("shared-by")).toHaveCount(1);
  await expect(page.getByTestId("quote")).toHaveCount(1);
}

async function sessions(page: Page, api: Api): Promise<void> {
  const { handle, password } = await api.signUp();
  await page.goto("/settings/sessions");
  const elsewhere = await request.newContext();
  const signIn = new URL("/api/v1/session", page.url()).href;
  const session = await elsewhere.post(signIn, { data: { handle, password } });
  expect(session.status(), await session.text()).toBe(200);
  await elsewhere.dispose();
  await page.reload();
}

async function signInRefused(page: Page): Promise<void> {
  await page.goto("/login");
  await page.getByLabel("Handle").fill("nobody-of-that-name");
  await page.getByLabel("Password").fill("not the password");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByRole("alert")).toBeVisible();
}

async function signUpRefused(page: Page): Promise<void> {
  await page.goto("/signup");
  await page.getByLabel("Handle").fill("with spaces");
  await page.getByLabel("Password").fill("short");
  await page.getByRole("main").getByRole("button", { name: "Sign up" }).click();
  await expect(page.locator("[aria-invalid=true]")).toHaveCount(3);
}
