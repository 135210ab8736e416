/** The plugins of Apollo that this server runs with: `hooks.ts` is ours, and Apollo adds none by itself. */
import type { ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { Context } from './context.js';

/** Those that Apollo adds unless it is told not to, depending on the environment. */
export const DISABLED_PLUGINS: readonly ApolloServerPlugin<Context>[] = [
  ApolloServerPluginCacheControlDisabled(),
  ApolloServerPluginInlineTraceDisabled(),
  ApolloServerPluginLandingPageDisabled(),
  ApolloServerPluginSchemaReportingDisabled(),
  ApolloServerPluginUsageReportingDisabled(),
];

/** Add others here: as long as there is one, every request goes through all of Apollo, which calls it. */
export const OTHER_PLUGINS: readonly ApolloServerPlugin<Context>[] = [];
