/** Declares the market's operations. An operation's type depends on who may perform it. */
import type { Caller as PlatformCaller } from '../../platform/call/caller.js';
import type * as platform from '../../platform/call/operation.js';
import type { Role, Viewer, ViewerWith } from '../rules/viewer.js';
import type { JobInclude } from '../store/jobs/job-parts.js';
import type { Services } from './services.js';

export type Caller = PlatformCaller<Viewer, Services>;

export interface Call<V> extends platform.Call {
  readonly viewer: V;
  readonly services: Omit<Services, 'db' | 'probe'>;
  readonly caller: platform.CallerInCall<Viewer, Services>;
  readonly include: JobInclude;
}

type Allowed = 'anyone' | 'signed in' | readonly Role[];

type ViewerOf<A extends Allowed> = A extends 'anyone'
  ? null
  : A extends readonly (infer R extends Role)[]
    ? ViewerWith<R>
    : Viewer;

export interface Operation<
  Input,
  Output,
  A extends Allowed = Allowed,
  Preparation = unknown,
> extends platform.Operation<Input, Output, Call<ViewerOf<A>>, Preparation> {
  readonly allows: A;
  readonly budget: 'read' | 'write' | 'logInPerAddress' | 'signUp' | 'consumedByOperation' | 'none';
}

export function operation<Input, Output, const A extends Allowed, Preparation = void>(
  parts: Operation<Input, Output, A, Preparation>,
): Operation<Input, Output, A, Preparation> {
  return parts;
}
