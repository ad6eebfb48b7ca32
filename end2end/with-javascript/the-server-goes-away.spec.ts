import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Api } from "../api";
import { expect, gotoLive, test, typeInto } from "../fixtures";
import { Running } from "../running";

/** Browsers complain of every attempt that fails meanwhile. */
test.use({ tolerated: [/ERR_/] });

test("what is done while the server is away is sent when it is back, once", async ({ secondWindow }) => {
  test.slow();
  const folder = mkdtempSync(join(tmpdir(), "spillway-away-"));
  const settings = { SPILLWAY_STORE: `embedded:${join(folder, "data")}` };
  let server = new Running(folder, settings);
  try {
    const url = await server.says(/http:\/\/\S+/);
    const reader = await secondWindow(url);
    const api = new Api(reader.request);
    const person = await api.signUp();
    const post = await api.post(`${person.name} will see the line go dead`);
    await gotoLive(reader, `/post/${post.id}`);
    const status = reader.locator("#connection");
    await expect(status).toBeEmpty();
    const form = reader.getByTestId("comment-form");
    await typeInto(form, "Still here?");

    await server.stop("SIGKILL");
    await reader.getByTestId("like-button").first().click();
    await form.getByRole("button").click();
    await expect(status).toContainText("Not connected", { timeout: 15_000 });
    await expect(reader.getByTestId("like-button").first()).toHaveAttribute("aria-pressed", "true");
    await expect(reader.locator("[aria-busy=true]").getByText("Still here?")).toBeVisible();

    server = new Running(folder, { ...settings, SPILLWAY_ADDR: new URL(url).host });
    await server.says(/http:\/\/\S+/);
    await expect(reader.getByTestId("comment")).toHaveCount(1, { timeout: 40_000 });
    await expect(status).toBeEmpty({ timeout: 40_000 });
    const { likes, comments } = await api.findPost(post.id);
    expect({ likes, comments }).toEqual({ likes: 1, comments: 1 });
    await reader.reload();
    await expect(reader.getByTestId("comment")).toHaveCount(1);
    await expect(reader.getByTestId("like-button").first()).toHaveAttribute("aria-pressed", "true");
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});
