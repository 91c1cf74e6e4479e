import type { StrategyName } from '../../store/schema/feature-flags.ts'

export const STRATEGIES = [
  'default',
  'gradualRolloutUserId',
  'userWithId',
  'gitlabUserList',
  'flexibleRollout',
] as const satisfies readonly StrategyName[]

const PERCENT = /^(?:100|\d{1,2})$/
const GROUP = /^[a-z]{1,32}$/
const STICKINESS = ['default', 'userId', 'sessionId', 'random']
const LONGEST_IDS = 10_000

type Parameters = Readonly<Record<string, string>>

/** Which parameters a strategy takes, and what they may be. */
const CHECKS: Readonly<Record<StrategyName, Readonly<Record<string, (text: string) => boolean>>>> =
  {
    default: {},
    gitlabUserList: {},
    gradualRolloutUserId: {
      groupId: (text) => GROUP.test(text),
      percentage: (text) => PERCENT.test(text),
    },
    userWithId: { userIds: (text) => text.length <= LONGEST_IDS },
    flexibleRollout: {
      groupId: (text) => GROUP.test(text),
      rollout: (text) => PERCENT.test(text),
      stickiness: (text) => STICKINESS.includes(text),
    },
  }

/** What is wrong with the parameters of a strategy; undefined when nothing is. */
export function strategyFault(name: StrategyName, parameters: Parameters): string | undefined {
  const checks = CHECKS[name]
  const names = Object.keys(checks)
  const given = Object.keys(parameters)
  if (given.length !== names.length || !names.every((one) => given.includes(one))) {
    return 'parameters are invalid'
  }
  const wrong = names.find((one) => !checks[one]?.(parameters[one] ?? ''))
  return wrong === undefined ? undefined : `${wrong} is invalid`
}
