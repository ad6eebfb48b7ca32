import { expect, type APIRequestContext } from "@playwright/test";

export interface Person {
  handle: string;
  name: string;
  password: string;
}

export interface Post {
  id: string;
  author: { handle: string; name: string };
  text: string;
  likes: number;
  comments: number;
  liked: boolean;
}

/** The result of the workshop's race of the layouts. */
export interface LayoutRace {
  progress: string;
  layouts: { name: string; laps: { items: number; append: { bytesWritten: number } }[] }[];
}

interface Listing<T> {
  items: T[];
  next: string | null;
  seams: { after: string; page: number }[];
  total: number;
}

/** The prefix of the handles of people whom the tests create; nobody in the demo town has it. */
const PREFIX = "e2e-";

/** A new person, who is not in the store yet. */
export function stranger(): Person {
  const unique = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
  return { handle: `${PREFIX}${unique}`, name: `Test ${unique}`, password: `password of ${unique}` };
}

/** Whether a handle belongs to the demo town, whose people are not changed by concurrent tests. */
export function livesInTown(handle: string): boolean {
  return !handle.startsWith(PREFIX);
}

/**
 * The JSON API as one visitor uses it. With a page's own `page.request` it shares the page's cookies, so
 * signing up here signs the page in.
 */
export class Api {
  constructor(private readonly request: APIRequestContext) {}

  async signUp(person = stranger()): Promise<Person> {
    const response = await this.request.post("/api/v1/accounts", { data: person });
    expect(response.status(), await response.text()).toBe(201);
    return person;
  }

  async signOut(): Promise<void> {
    const response = await this.request.delete("/api/v1/session");
    expect(response.ok(), await response.text()).toBe(true);
  }

  async post(text: string): Promise<Post> {
    const response = await this.request.post("/api/v1/posts", { data: { text } });
    expect(response.status(), await response.text()).toBe(201);
    return response.json();
  }

  async quote(quote: string, text: string): Promise<Post> {
    const response = await this.request.post("/api/v1/posts", { data: { text, quote } });
    expect(response.status(), await response.text()).toBe(201);
    return response.json();
  }

  async pin(post: string): Promise<void> {
    const response = await this.request.put(`/api/v1/posts/${post}/pin`);
    expect(response.status(), await response.text()).toBe(204);
  }

  async comment(post: string, text: string): Promise<{ id: string }> {
    const response = await this.request.post(`/api/v1/posts/${post}/comments`, { data: { text } });
    expect(response.status(), await response.text()).toBe(201);
    return response.json();
  }

  async follow(handle: string): Promise<void> {
    const response = await this.request.put(`/api/v1/users/${handle}/follow`);
    expect(response.status(), await response.text()).toBe(200);
  }

  async restrict(handle: string, action: "mute" | "block"): Promise<void> {
    const response = await this.request.put(`/api/v1/users/${handle}/${action}`);
    expect(response.status(), await response.text()).toBe(200);
  }

  async like(post: string): Promise<void> {
    const response = await this.request.put(`/api/v1/posts/${post}/like`);
    expect(response.status(), await response.text()).toBe(200);
  }

  async share(post: string): Promise<void> {
    const response = await this.request.put(`/api/v1/posts/${post}/share`);
    expect(response.status(), await response.text()).toBe(200);
  }

  async unlike(post: string): Promise<void> {
    const response = await this.request.delete(`/api/v1/posts/${post}/like`);
    expect(response.status(), await response.text()).toBe(200);
  }

  /** How the lists of a post or a user are stored, for `posts/{id}` or `users/{handle}`. */
  async overflow(
    owner: string,
  ): Promise<Record<string, { count: number; threshold: number; pages: number }>> {
    return this.get(`/api/v1/${owner}/overflow`);
  }

  async findPost(id: string): Promise<Post> {
    return this.get(`/api/v1/posts/${id}`);
  }

  async postsOf(handle: string): Promise<number> {
    const activity = await this.get<Listing<{ kind: string }>>(`/api/v1/users/${handle}/activity?limit=100`);
    return activity.items.filter((item) => item.kind === "post").length;
  }

  /** The most liked post of the demo town. */
  async viralPost(): Promise<Post> {
    const explore = await this.get<Listing<Post>>("/api/v1/explore?limit=20");
    const [viral] = explore.items.toSorted((a, b) => b.likes - a.likes);
    expect(viral?.likes, "the demo town is loaded").toBeGreaterThan(20_000);
    return viral!;
  }

  /** The most followed person among the authors that /explore shows. */
  async celebrity(): Promise<string> {
    const explore = await this.get<Listing<Post>>("/api/v1/explore?limit=100");
    const authors = new Set(explore.items.map((post) => post.author.handle).filter(livesInTown));
    const followed = await Promise.all(
      [...authors].map(async (handle) => {
        const { followers } = await this.get<{ followers: number }>(`/api/v1/users/${handle}`);
        return { handle, followers };
      }),
    );
    const [celebrity] = followed.toSorted((a, b) => b.followers - a.followers);
    expect(celebrity?.followers, "the celebrity is among the authors on /explore").toBeGreaterThan(10_000);
    return celebrity!.handle;
  }

  /** The first `count` people of a list such as `posts/{id}/likes`, read by cursor. */
  async people(list: string, count: number): Promise<string[]> {
    const handles: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
      const listing: Listing<{ user: { handle: string } }> = await this.get(
        `/api/v1/${list}?limit=100${query}`,
      );
      handles.push(...listing.items.map((item) => item.user.handle));
      cursor = listing.next;
    } while (cursor && handles.length < count);
    return handles.slice(0, count);
  }

  /** Runs a race of the layouts, or waits for the current one, and returns its result. */
  async raceLayouts(largest: number): Promise<LayoutRace> {
    const response = await this.request.post("/api/v1/lab/layouts", { data: { largest, itemBytes: 62 } });
    expect([202, 409], await response.text()).toContain(response.status());
    return this.finishedRace();
  }

  /** The race of the layouts, once it is finished. */
  async finishedRace(): Promise<LayoutRace> {
    const race = async () => this.get<LayoutRace>("/api/v1/lab/layouts");
    await expect.poll(async () => (await race()).progress, { timeout: 45_000 }).toBe("finished");
    return race();
  }

  private async get<T>(path: string): Promise<T> {
    const response = await this.request.get(path);
    expect(response.status(), `GET ${path}: ${await response.text()}`).toBe(200);
    return response.json();
  }
}
