/** The Apollo plugins that this server runs with. `hooks.ts` is ours, and Apollo adds none on its own. */
import type { ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { Context } from './context.js';

/** Those that Apollo adds, depending on the environment, unless it's told not to. */
export const DISABLED_PLUGINS: readonly ApolloServerPlugin<Context>[] = [
  ApolloServerPluginCacheControlDisabled(),
  ApolloServerPluginInlineTraceDisabled(),
  ApolloServerPluginLandingPageDisabled(),
  ApolloServerPluginSchemaReportingDisabled(),
  ApolloServerPluginUsageReportingDisabled(),
];

/** Add others here. As long as there is one, every request goes through all of Apollo, which calls it. */
export const OTHER_PLUGINS: readonly ApolloServerPlugin<Context>[] = [];
