/**
 * Stryker skips everything that's asserted `as const`, which includes the tables with most of the rules. Assertions
 * have no effect at run time, so this plugin removes them from each file before the file is mutated. It ignores
 * nothing.
 */
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

const unasserted = {
  shouldIgnore(path) {
    if (path.isProgram())
      path.traverse({ TSAsExpression: (assertion) => void assertion.replaceWith(assertion.node.expression) });
  },
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'tables', unasserted)];
