import { expect, test } from "./fixtures";
import type { Locator, Page } from "@playwright/test";

/** A student uses the workshop. It has only links, so the journeys are the same with JavaScript. */
export function journeysInTheWorkshop(): void {
  test("two clicks each put 1,001 items into the article's document, and never into ours", async ({
    page,
  }) => {
    test.slow();
    await page.goto("/lab");
    await page.getByRole("link", { name: "The race for the last place" }).click();
    await expect(writer(page, "ada").getByText("Read the number of items")).toBeVisible();

    for (const name of ["Ada", "Bob", "Ada", "Bob"]) {
      await step(page, name);
    }
    await expect(page.getByTestId("verdict")).toContainText("1,001 items in a head that may hold 1,000");
    await expect(page.getByText('"activities": [1,001 items')).toBeVisible();
    await expect(sheets(page)).toHaveText(["head1,001 of 1,000"]);
    await expect(timeline(page)).toHaveText([
      "Ada: reads: 999 items",
      "Bob: reads: 999 items",
      "Ada: writes",
      "Bob: writes",
    ]);
    await expect(page).toHaveURL(/clicks=abab/);

    await page.getByRole("link", { name: "Head and pages" }).click();
    await expect(writer(page, "ada")).toContainText("Ada is done");
    await expect(writer(page, "bob")).toContainText("there is room in the head");
    await expect(timeline(page)).toHaveText([
      "Ada: reads: 999 items, no page",
      "Bob: reads: 999 items, no page",
      "Ada: writes",
      "Bob: guard fails",
    ]);
    while (await page.getByRole("link", { name: "Let Bob do this" }).isVisible()) {
      await step(page, "Bob");
    }
    await expect(page.getByTestId("verdict")).toContainText("The list is correct");
    await expect(page.getByTestId("verdict")).toContainText("A reader finds 1,001.");
    await expect(sheets(page)).toHaveText(["head201 of 1,000", "page 0800 items"]);
  });

  test("a line in the console changes the documents beside it", async ({ page }) => {
    await page.goto("/lab");
    await page.getByRole("link", { name: "A console of your own" }).click();
    const output = page.getByTestId("console-output");
    const run = async (line: string) => {
      await page.getByTestId("console-input").fill(line);
      await page.getByRole("button", { name: "Run" }).click();
    };
    const answer = output.getByRole("listitem").first();
    await expect(sheets(page)).toContainText(["head3 of 4", "page 23", "page 13", "page 03"]);
    await expect(page.getByText("The list is correct")).toBeVisible();

    await run('db.posts.updateOne({}, { $push: { "likes.head": { by: "zoe" } } })');
    await expect(answer).toContainText("modifiedCount: 1");
    await expect(answer).toContainText("1 document");
    await expect(sheets(page).first()).toContainText("4 of 4");
    await expect(page.getByText("The count says 12, a reader finds 13")).toBeVisible();
    await run('db.posts.updateOne({}, { $inc: { "likes.count": 1 } })');
    await expect(page.getByText("The list is correct")).toBeVisible();

    await run("db.posts.find({ $near: 1 })");
    await expect(answer).toContainText(
      "MongoServerError[BadValue]: the embedded engine does not support '$near'",
    );
    await run("exercise 5 2");
    await expect(answer).toContainText("Right. Page 2 has the likes 257 to 384.");

    await page.getByRole("link", { name: "db.posts.find({ $near: 1 })" }).click();
    await expect(page.getByTestId("console-input")).toHaveValue("db.posts.find({ $near: 1 })");
    await page.getByRole("button", { name: "Begin again" }).click();
    await expect(output.getByRole("listitem")).toHaveCount(0);
    await expect(sheets(page).first()).toContainText("3 of 4");
  });

  test("Back and “Step back” undo the last click", async ({ page }) => {
    await page.goto("/lab/race");
    await step(page, "Ada");
    await step(page, "Ada");
    await expect(writer(page, "ada")).toContainText("Ada is done");
    await page.goBack();
    await expect(page.getByRole("link", { name: "Let Ada do this" })).toBeVisible();
    await expect(page).toHaveURL(/clicks=a$/);
    await step(page, "Bob");
    await step(page, "Bob");
    await page.getByRole("link", { name: "Ada: reads: 999 items" }).click();
    await expect(page).toHaveURL(/clicks=a$/);
    await expect(timeline(page)).toHaveCount(1);
    await page.getByRole("link", { name: "Step back" }).click();
    await expect(page).toHaveURL(/layout=check-then-act$/);
    await expect(page.getByRole("link", { name: "Step back" })).toHaveCount(0);
  });

  test("a crash at any point leaves ours whole, and doubles the article's item", async ({ page }) => {
    await page.goto("/lab");
    await page.getByRole("link", { name: "A crash in the wrong place" }).click();
    await choose(page, "Add, and try again");
    const points = page.locator(".point");
    await expect(points).toHaveCount(9);
    const ours = page.locator(".points > div").filter({ hasText: "Head and pages" });
    for (const outcome of await ours.locator(".point span").all()) {
      await expect(outcome).toHaveText("correct");
    }

    const article = page.locator(".points > div").filter({ hasText: "Check, then act" });
    await article.getByRole("link", { name: /After write 2/ }).click();
    await expect(page.getByText("Ada is in the list twice.", { exact: true })).toBeVisible();
    await expect(page.getByText("Here the process dies.")).toBeVisible();

    await ours.getByRole("link", { name: /After write 1/ }).click();
    await expect(page.getByText(/page 0 was written but never committed/)).toBeVisible();
    await expect(page.getByText("spillway check finds no error.")).toBeVisible();
  });

  test("a crash while following hides the article's next follower, and ours is in both lists", async ({
    page,
  }) => {
    await page.goto("/lab/crash");
    await page.getByRole("link", { name: "Follow somebody" }).click();
    const code = (title: string) => page.locator(".points > div").filter({ hasText: title });
    await expect(code("Add a follower").getByRole("link", { name: /After write 1/ })).toContainText(
      "bob is lost; the count says 6, a reader finds 5",
    );
    for (const outcome of await code("Head and pages").locator(".point span").all()) {
      await expect(outcome).toHaveText("correct");
    }

    await page.getByRole("link", { name: "Follow, and try again" }).click();
    await expect(page.getByText("Her browser gets no answer", { exact: false })).toBeVisible();
    await code("Add a follower")
      .getByRole("link", { name: /After write 2/ })
      .click();
    await expect(page.getByText("Ada is in the list twice.", { exact: true })).toBeVisible();
    await code("Head and pages")
      .getByRole("link", { name: /After write 3/ })
      .click();
    await expect(page.getByText("Ada’s own list does not say that she follows.")).toBeVisible();
    await expect(page.getByText("Ada’s own list says that she follows.")).toBeVisible();
  });

  test("an account adds up with head and pages, wherever the process dies and whatever is sent again", async ({
    page,
  }) => {
    await page.goto("/lab");
    await page.getByRole("link", { name: "A ledger that adds up" }).click();
    await choose(page, "An entry that was booked before");
    const program = (title: string) => page.locator(".points > div").filter({ hasText: title });
    for (const outcome of await program("Head and pages").locator(".point span").all()) {
      await expect(outcome).toHaveText("correct");
    }
    await program("Both in one write").getByRole("link").first().click();
    await expect(page.getByText("Entry 2 is there twice.", { exact: true }).last()).toBeVisible();

    await program("Head and pages").getByRole("link").first().click();
    const later = page.getByTestId("later");
    await expect(later.getByText("The balance is the sum of the entries")).toBeVisible();
    await expect(later.getByTestId("sheets").getByRole("listitem")).toHaveText([
      "head3 of 5",
      "page 04 items",
    ]);
    // The newest first, and below the seam what the page holds: each line has the balance after it.
    await expect(later.getByRole("row")).toHaveText([
      "NumberAmountBalance",
      "730615",
      "6−90585",
      "5260675",
      "Brought forward from page 0415",
      "4−45415",
      "380460",
      "2−120380",
      "1500500",
      "Before the first entry0",
    ]);
  });

  test("in a storm of readings the hour's document grows, and buckets and heads do not", async ({ page }) => {
    await page.goto("/lab");
    await page.getByRole("link", { name: "Readings of a sensor" }).click();
    await expect(page.getByTestId("verdict")).toContainText("a document for each hour is all that you need");
    await choose(page, "20,100 readings in the last hour");
    await expect(page.getByTestId("layout-hours").locator(".sheet-head").first()).toContainText(
      "5:0020,100 readings",
    );
    await expect(page.getByTestId("layout-buckets")).toContainText("106 documents");
    await expect(page.getByTestId("layout-head-and-pages").locator(".sheet-head").first()).toContainText(
      "head",
    );
    await expect(page.getByTestId("verdict")).toContainText("To show a quiet hour, buckets read 1 document");
  });

  test("a race of the layouts shows what was measured, and that only the plain array grows", async ({
    page,
    api,
  }) => {
    test.slow();
    await api.signUp();
    await page.goto("/lab");
    await page.getByRole("link", { name: "The race of the layouts" }).click();
    await page.getByRole("link", { name: "1,000", exact: true }).click();
    // Another test may have started the same race.
    const start = page.getByRole("button", { name: "Race up to 1,000 items" });
    await expect(start.or(page.getByRole("button", { name: "Stop the race" }))).toBeVisible();
    if (await start.isVisible()) {
      await start.click();
    }
    // Without JavaScript, and until the pane refreshes itself, a page shows the state at the time when it was loaded.
    await expect(async () => {
      await page.goto("/lab/layouts?largest=1000");
      await expect(page.getByTestId("run")).toContainText("is finished", { timeout: 500 });
    }).toPass();

    const race = await api.finishedRace();
    const written = page.getByTestId("append-bytes");
    await expect(written.getByRole("img", { name: /Written for one append/ })).toBeVisible();
    for (const { name, laps } of race.layouts) {
      const [short, long] = laps.map(({ append }) => append.bytesWritten);
      expect(long! / short! > 5, name).toBe(name === "one array");
      const row = written
        .getByRole("row")
        .filter({ has: page.getByRole("rowheader", { name, exact: true }) });
      await expect(row.getByRole("cell")).toHaveCount(2);
    }
    await expect(page.getByTestId("append-time")).toContainText("published: one array");
  });

  test("a smaller budget writes less for each append, and a list in a sandbox costs what was predicted", async ({
    page,
    api,
  }) => {
    test.slow();
    const { handle } = await api.signUp();
    await page.goto("/lab");
    await page.getByRole("link", { name: "How much may a head hold?" }).click();
    const rules = page.getByRole("region", { name: "What the limits mean" });
    const written = rules.getByRole("row", { name: /^Written for one append/ }).getByRole("cell");
    await page.getByRole("link", { name: "64 KB" }).click();
    await expect(page.getByRole("columnheader", { name: "With 64 KB" })).toBeVisible();
    const large = parseFloat(await written.nth(1).innerText());
    await page.getByRole("link", { name: "4 KB", exact: true }).click();
    await expect(page.getByRole("columnheader", { name: "With 4 KB" })).toBeVisible();
    const small = await written.nth(1).innerText();
    expect(parseFloat(small)).toBeLessThan(large / 5);
    await expect(page.getByTestId("conclusion")).toContainText(
      `With a budget of 4 KB, an append writes ${small} on average,`,
    );

    const list = page.getByTestId("laid-out");
    // The list that is laid out may be another test's.
    await expect(async () => {
      await page.goto("/lab/tune?relation=likes&kb=4");
      for (const chart of ["Written for one append", "Documents read for 10,000 items"]) {
        await expect(page.getByTestId("curves").getByRole("img", { name: chart })).toBeVisible();
      }
      await page.getByRole("button", { name: "Create a list with these limits" }).click({ timeout: 1_000 });
      await expect(list).toContainText(`@${handle} chose 4 KB for likes`, { timeout: 1_000 });
    }).toPass();
    await expect(async () => {
      const again = page.getByRole("link", { name: "Refresh" });
      if (await again.isVisible()) {
        await again.click({ timeout: 1_000 });
      }
      await expect(page.getByTestId("verdict")).toHaveText(
        "The measurements equal the predictions to the last byte.",
        { timeout: 500 },
      );
    }).toPass();
    await expect(list).toContainText(`@${handle} chose 4 KB for likes`);
    const measured = list.getByRole("row", { name: /^Written for one append/ }).getByRole("cell");
    expect(await measured.nth(1).innerText()).toBe(small);
    await expect(list.getByTestId("byte-map")).toContainText("likes.head");
    await list.getByRole("link", { name: /^page 0/ }).click();
    await expect(list.getByText("db.pages, page 0")).toBeVisible();

    await page.getByLabel("Or another budget, in KB").fill("12");
    await page.getByRole("button", { name: "Show" }).click();
    await expect(page.getByRole("columnheader", { name: "With 12 KB" })).toBeVisible();
  });
}

/** One writer's part of the page. */
function writer(page: Page, name: string): Locator {
  return page.getByTestId(`writer-${name}`);
}

/** The documents of the list, as drawn: the head first. */
function sheets(page: Page): Locator {
  return page.getByTestId("sheets").first().getByRole("listitem");
}

/** What the writers did, in order. */
function timeline(page: Page): Locator {
  return page.getByTestId("timeline").getByRole("listitem");
}

/** Runs a writer's pending command, and waits until that is shown. */
async function step(page: Page, name: string): Promise<void> {
  const steps = page.getByTestId("log").locator("> li");
  const before = await steps.count();
  await page.getByRole("link", { name: `Let ${name} do this` }).click();
  await expect(steps).toHaveCount(before + 1);
}

/** Chooses a view of a station, and waits until it is shown: its links look like those of the view before. */
async function choose(page: Page, name: string): Promise<void> {
  const tab = page.getByRole("link", { name });
  await tab.click();
  await expect(tab).toHaveAttribute("aria-current", "true");
  await page.waitForLoadState();
}
