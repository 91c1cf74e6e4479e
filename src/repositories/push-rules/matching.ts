import { callerKey } from '../../access/caller-key.ts'
import { PatternBudget } from '../../base/patterns/budget.ts'
import { PatternLimitError } from '../../base/patterns/pattern.ts'
import type { Ctx } from '../../ctx.ts'
import type { PushRuleRow } from './queries.ts'

type Regex = Extract<keyof PushRuleRow, `${string}_regex`>

/** A pattern may be about any line of a message, but about a path as a whole. */
export function flagsOf(name: Regex): string {
  return name === 'file_name_regex' ? '' : 'm'
}

/** Milliseconds in workers for all that one push brings: the history of a project may be in it. */
const LONGEST_MS = 10_000

/** Of each text, whether the pattern of a rule finds it, or the sentence that refuses what was not compared. */
export type Match = (
  name: Regex,
  texts: readonly string[],
) => Promise<readonly boolean[] | string | undefined>

/** Compares what one push brings with the patterns of its rule; undefined where the rule has no such pattern. */
export function matcher(ctx: Pick<Ctx, 'actor' | 'ip'>, rule: PushRuleRow): Match {
  const patterns = new PatternBudget({ caller: callerKey(ctx), timeoutMs: LONGEST_MS })
  return async (name, texts) => {
    const source = rule[name]
    if (!source) return undefined
    try {
      return await patterns.testEach([{ source, flags: flagsOf(name) }], texts)
    } catch (error) {
      if (!(error instanceof PatternLimitError)) throw error
      return `The pattern '${source}' of the push rule ${error.message}`
    }
  }
}
