/** What a step of the playground's stories is made of. */

export interface Step {
  /** Plain text: what the step does, and what to look at in its answer. */
  readonly text: string;
  readonly query: string;
  readonly variables?: object;
  /** The role whose token is sent; without it, the token of the user who signed in last. */
  readonly as?: 'homeowner' | 'contractor' | 'admin';
  /** Sent in place of the token of `as`. */
  readonly headers?: object;
}

export interface Chapter {
  readonly chapter: string;
  readonly steps: readonly Step[];
}
