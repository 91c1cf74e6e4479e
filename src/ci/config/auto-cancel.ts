import { configFault } from './fault.ts'
import { isMap, type Value } from './values.ts'

const ON_NEW_COMMIT = ['conservative', 'interruptible', 'none'] as const
const ON_JOB_FAILURE = ['none', 'all'] as const

/** When jobs of a pipeline are canceled without anybody asking (`workflow:auto_cancel`, docs/contract/D §5.1). */
export interface AutoCancel {
  readonly onNewCommit: (typeof ON_NEW_COMMIT)[number]
  readonly onJobFailure: (typeof ON_JOB_FAILURE)[number]
}

const DEFAULT: AutoCancel = { onNewCommit: 'conservative', onJobFailure: 'none' }

/** Reads `auto_cancel`; what it leaves out is as in `under`. */
export function readAutoCancel(
  where: string,
  value: Value,
  under: AutoCancel = DEFAULT,
): AutoCancel {
  if (value === undefined || value === null) return under
  if (!isMap(value)) throw configFault(`${where}:auto_cancel config should be a hash`)
  const unknown = Object.keys(value).filter(
    (key) => key !== 'on_new_commit' && key !== 'on_job_failure',
  )
  if (unknown.length > 0) {
    throw configFault(`${where}:auto_cancel config contains unknown keys: ${unknown.join(', ')}`)
  }
  return {
    onNewCommit:
      word(where, 'on_new_commit', value.on_new_commit, ON_NEW_COMMIT) ?? under.onNewCommit,
    onJobFailure:
      word(where, 'on_job_failure', value.on_job_failure, ON_JOB_FAILURE) ?? under.onJobFailure,
  }
}

function word<W extends string>(
  where: string,
  key: string,
  value: Value,
  words: readonly W[],
): W | undefined {
  if (value === undefined || value === null) return undefined
  const found = words.find((one) => one === value)
  if (found) return found
  throw configFault(
    `${where}:auto_cancel ${key.replaceAll('_', ' ')} must be one of: ${words.join(', ')}`,
  )
}
