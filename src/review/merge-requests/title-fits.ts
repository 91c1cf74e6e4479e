import { callerKey } from '../../access/caller-key.ts'
import { byteCache } from '../../base/byte-cache.ts'
import { groupBy } from '../../base/group-by.ts'
import { PatternBudget } from '../../base/patterns/budget.ts'
import { PatternLimitError, PatternSyntaxError } from '../../base/patterns/pattern.ts'
import type { Ctx } from '../../ctx.ts'

interface Titled {
  readonly id: number
  readonly title: string
  /** What the project wants of titles; null and an empty text want nothing. */
  readonly pattern: string | null
}

type Verdict = 'fits' | 'does not fit'

/** By pattern and title: lists are read far more often than titles change. */
const known = byteCache<Verdict>(2 * 1024 * 1024, () => 0)

/**
 * The ids of those merge requests whose title fits the pattern of their project. A broken pattern fits every title; one
 * that takes too long fits none, since it was to keep something from being merged.
 */
export async function titlesThatFit(
  ctx: Pick<Ctx, 'actor' | 'ip'>,
  all: readonly Titled[],
): Promise<ReadonlySet<number>> {
  const fit = new Set<number>()
  const asked: (Titled & { readonly pattern: string })[] = []
  for (const { pattern, ...one } of all) {
    const verdict = pattern ? known.get(keyOf(pattern, one.title)) : 'fits'
    if (verdict === 'fits') fit.add(one.id)
    else if (pattern && verdict === undefined) asked.push({ ...one, pattern })
  }
  if (asked.length > 0) for (const id of await compare(ctx, asked)) fit.add(id)
  return fit
}

/** The ids of those whose title fits, now that nobody knows yet. */
async function compare(
  ctx: Pick<Ctx, 'actor' | 'ip'>,
  asked: readonly (Titled & { readonly pattern: string })[],
): Promise<number[]> {
  const fit: number[] = []
  const patterns = new PatternBudget({ caller: callerKey(ctx) })
  for (const [pattern, some] of groupBy(asked, (one) => one.pattern)) {
    const titles = some.map((one) => one.title)
    const verdicts = (await verdictsOf(patterns, pattern, titles)) ?? []
    for (const [at, verdict] of verdicts.entries()) {
      const one = some[at]
      if (!one) continue
      known.set(keyOf(pattern, one.title), verdict)
      if (verdict === 'fits') fit.push(one.id)
    }
  }
  return fit
}

function keyOf(pattern: string, title: string): string {
  return JSON.stringify([pattern, title])
}

/** Undefined where it took too long. */
async function verdictsOf(
  patterns: PatternBudget,
  pattern: string,
  titles: readonly string[],
): Promise<readonly Verdict[] | undefined> {
  try {
    const fits = await patterns.testEach([{ source: pattern }], titles)
    return fits.map((one) => (one ? 'fits' : 'does not fit'))
  } catch (error) {
    if (error instanceof PatternSyntaxError) return titles.map(() => 'fits')
    if (error instanceof PatternLimitError) return undefined
    throw error
  }
}
