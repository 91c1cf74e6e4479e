import { JobFailure } from './job.ts'

/*
 * The flags of `git fetch` that a job may ask for. git runs outside of the job's container: what would have it fetch from
 * another place than the server (`--all`, `--multiple`, `--recurse-submodules`), or start a program for that
 * (`--upload-pack`), is not among them, nor is what nobody knows yet.
 */

const PLAIN =
  'append|atomic|auto-gc|auto-maintenance|dry-run|force|ipv4|ipv6|keep|negotiate-only|porcelain|prefetch|progress|prune|prune-tags|quiet|refetch|set-upstream|show-forced-updates|tags|unshallow|update-head-ok|update-shallow|verbose|write-commit-graph|write-fetch-head'
/** With a value behind `=`, or as the next word. */
const VALUED =
  'deepen|depth|filter|jobs|negotiation-include|negotiation-restrict|negotiation-tip|refmap|server-option|shallow-exclude|shallow-since'

const whole = new RegExp(
  `^(--(no-)?(${PLAIN})|--no-(${VALUED}|recurse-submodules)|--(${VALUED})=.*|-[46afknpPqtuv]+|-j\\d+|-o.+)$`,
)
const openEnded = new RegExp(`^(--(${VALUED})|-j|-o)$`)

/** Refuses flags that are none of these. git takes the word behind one that wants a value for that, whatever it is. */
export function assertFetchFlags(words: readonly string[]): void {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (whole.test(word)) continue
    if (!openEnded.test(word)) throw refused(`may not have ${word}`)
    at += 1
    // Else it would take what follows the flags.
    if (at === words.length) throw refused(`has no value for ${word}`)
  }
}

function refused(why: string): JobFailure {
  return new JobFailure('script_failure', `GIT_FETCH_EXTRA_FLAGS ${why}`)
}
