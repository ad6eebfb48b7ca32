import { Api } from "../api";
import { expect, gotoLive, meter, test } from "../fixtures";
import { startTwoServers, type TwoServers } from "../two-servers";

let servers: TwoServers;

test.beforeAll(async () => {
  servers = await startTwoServers();
});

test.afterAll(async () => {
  await servers?.stop();
});

test("a like through one server moves the meter in a browser on the other within two seconds", async ({
  secondWindow,
}) => {
  const [here, there] = servers.urls;
  const reader = await secondWindow(here);
  const api = new Api(reader.request);
  const person = await api.signUp();
  const post = await api.post(`${person.name} is read on two servers`);

  const watcher = await secondWindow(there);
  await gotoLive(watcher, `/post/${post.id}`);
  await expect(watcher.getByTestId("like-count").first()).toHaveText(/\b0\b/);
  expect(await meter(watcher, "head")).toBe(0);

  await gotoLive(reader, `/post/${post.id}`);
  await reader.getByTestId("like-button").first().click();
  await expect(watcher.getByTestId("like-count").first()).toHaveText(/\b1\b/);
  await expect.poll(() => meter(watcher, "head"), { intervals: [20] }).toBe(1);

  await reader.getByTestId("like-button").first().click();
  await expect(watcher.getByTestId("like-count").first()).toHaveText(/\b0\b/);
});
