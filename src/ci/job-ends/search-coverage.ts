import { compilePattern } from '../../base/patterns/compiled.ts'
import { slashedPattern } from '../../base/patterns/pattern.ts'
import { workerTask } from '../../base/workers/worker-task.ts'

/**
 * The number of the last match in a log: in its group, or in all of it. A long log takes a second, and with some
 * expressions hours, so that it runs in a worker.
 */
export const searchCoverage = workerTask(
  (given: { readonly text: string; readonly pattern: string }): number | undefined =>
    coverageIn(given.text, given.pattern),
)

function coverageIn(text: string, pattern: string): number | undefined {
  let last: string | undefined
  try {
    const compiled = compilePattern(slashedPattern(pattern))
    for (const line of text.split(/\r\n|\r|\n/)) {
      const matcher = compiled.matcher(line.slice(0, 10_000))
      while (matcher.find())
        last = matcher.groupCount() > 0 ? (matcher.group(1) ?? '') : (matcher.group() ?? '')
    }
  } catch {
    return undefined
  }
  const number = /\d+(?:\.\d+)?/.exec(last ?? '')?.[0]
  return number === undefined ? undefined : Math.min(Number(number), 1e6)
}
