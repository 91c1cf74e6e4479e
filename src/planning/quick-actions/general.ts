import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import { toggleAward } from '../../discussions/award-emoji/verbs.ts'
import { setSubscribed } from '../../discussions/subscriptions/subscribe.ts'
import { completeTodos, markTodo } from '../../discussions/todos/add.ts'
import { humanDuration, readDuration } from '../time-tracking/duration.ts'
import { removeSpentTime, setEstimate, spendTime } from '../time-tracking/verbs.ts'
import { type CommandContext, type CommandTable, named } from './command-context.ts'
import { realDay } from './due-date.ts'
import { assigneeCommands } from './people.ts'
import { sortingCommands } from './sorting.ts'

function close(_: Ctx, context: CommandContext) {
  if (!context.mayChange || context.state !== 'opened') return undefined
  context.edits.state_event = 'close'
  return { changes: { state_event: 'close' }, message: `Closed this ${context.word}.` }
}

function reopen(_: Ctx, context: CommandContext) {
  if (!context.mayChange || context.state !== 'closed') return undefined
  context.edits.state_event = 'reopen'
  return { changes: { state_event: 'reopen' }, message: `Reopened this ${context.word}.` }
}

function setTitle(_: Ctx, context: CommandContext, argument: string) {
  if (!context.mayChange || argument === '') return undefined
  context.edits.title = argument
  return { changes: { title: argument }, message: `Changed the title to "${argument}".` }
}

function lock(locked: boolean) {
  return (_: Ctx, context: CommandContext) => {
    if (!context.maySort || context.locked === locked) return undefined
    context.edits.discussion_locked = locked
    const message = locked ? 'Locked the discussion.' : 'Unlocked the discussion.'
    return { changes: { discussion_locked: locked }, message }
  }
}

function subjectOf(context: CommandContext) {
  const type = context.word === 'issue' ? 'Issue' : 'MergeRequest'
  return { type, id: context.id, projectId: context.project.id } as const
}

function remember(ctx: Ctx, context: CommandContext) {
  return {
    changes: { todo_event: 'add' },
    message: 'Added a to-do item.',
    sum: { kind: 'to-do', amount: 0 },
    act: async () => void (await markTodo(ctx, subjectOf(context))),
  }
}

function done(ctx: Ctx, context: CommandContext) {
  return {
    changes: { todo_event: 'done' },
    message: 'Marked to-do item as done.',
    sum: { kind: 'to-do', amount: 0 },
    act: () => completeTodos(ctx, subjectOf(context)),
  }
}

function follow(subscribed: boolean) {
  return (ctx: Ctx, context: CommandContext) => ({
    changes: { subscription_event: subscribed ? 'subscribe' : 'unsubscribe' },
    message: subscribed
      ? `Subscribed to this ${context.word}.`
      : `Unsubscribed from this ${context.word}.`,
    sum: { kind: 'subscription', amount: 0 },
    async act() {
      const type = context.word === 'issue' ? 'issue' : 'merge_request'
      await setSubscribed(ctx, type, context.id, subscribed, await context.followsByDefault())
    },
  })
}

function react(ctx: Ctx, context: CommandContext, argument: string) {
  const name = /^:?([a-z0-9_+-]{1,100}):?$/i.exec(argument)?.[1]
  if (name === undefined) return undefined
  return {
    changes: { emoji_award: name },
    message: `Toggled :${name}: emoji award.`,
    act: () => {
      const subject = { ...subjectOf(context), noteable: context.noteable, note: null }
      return toggleAward(ctx, context.project, subject, name)
    },
  }
}

/** Names people so that they are notified; the text of a note does that already, a bare command does nothing. */
function mention(_: Ctx, __: CommandContext, argument: string) {
  return argument === '' ? undefined : { message: `CC: ${argument}.` }
}

function estimate(ctx: Ctx, context: CommandContext, argument: string) {
  const seconds = context.maySort ? readDuration(argument) : null
  if (seconds === null || seconds <= 0) return undefined
  return {
    changes: { time_estimate: seconds },
    message: `Set time estimate to ${humanDuration(ctx, seconds)}.`,
    sum: { kind: 'estimate', amount: 0 },
    act: () => setEstimate(ctx, context.timed, context.timedSubject, seconds),
  }
}

function removeEstimate(ctx: Ctx, context: CommandContext) {
  if (!context.maySort) return undefined
  return {
    changes: { time_estimate: 0 },
    message: 'Removed time estimate.',
    sum: { kind: 'estimate', amount: 0 },
    act: () => setEstimate(ctx, context.timed, context.timedSubject, 0),
  }
}

/** `/spend 1h 30m 2026-05-01`: the day is when, the time may be negative. */
function spend(ctx: Ctx, context: CommandContext, argument: string) {
  const found = /^(.*?)(?:\s+(\d{4}-\d{2}-\d{2}))?$/.exec(argument)
  const seconds = context.maySort ? readDuration(found?.[1] ?? '') : null
  const day = found?.[2]
  if (!seconds || (day !== undefined && realDay(day) === undefined)) return undefined
  const at = day === undefined ? ctx.now() : `${day}T12:00:00.000Z`
  if (at.slice(0, 10) > ctx.now().slice(0, 10)) return undefined
  const word = seconds < 0 ? 'Subtracted' : 'Added'
  const user_id = userOf(ctx.actor)?.id ?? null
  return {
    changes: (sum: number) => ({ spend_time: { duration: sum, user_id, spent_at: at } }),
    message: `${word} ${humanDuration(ctx, Math.abs(seconds))} spent time.`,
    sum: { kind: `spent on ${day ?? 'this day'}`, amount: seconds },
    async act(sum: number) {
      const spent = { seconds: sum, summary: null, at }
      if (sum !== 0) await spendTime(ctx, context.timed, context.timedSubject, spent)
    },
  }
}

function removeSpent(ctx: Ctx, context: CommandContext) {
  if (!context.maySort) return undefined
  return {
    changes: { spend_time: { duration: 'reset', user_id: userOf(ctx.actor)?.id ?? null } },
    message: 'Removed spent time.',
    act: () => removeSpentTime(ctx, context.timed, context.timedSubject),
  }
}

/** Commands that issues and merge requests share (docs/contract/D §1.11). */
export const generalCommands: CommandTable<CommandContext> = {
  close,
  reopen,
  title: setTitle,
  lock: lock(true),
  unlock: lock(false),
  todo: remember,
  done,
  subscribe: follow(true),
  unsubscribe: follow(false),
  ...named(['award', 'react'], react),
  cc: mention,
  ...named(['estimate', 'estimate_time'], estimate),
  ...named(['remove_estimate', 'remove_time_estimate'], removeEstimate),
  ...named(['spend', 'spend_time', 'spent'], spend),
  remove_time_spent: removeSpent,
  ...assigneeCommands,
  ...sortingCommands,
}
