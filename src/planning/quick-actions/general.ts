import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import { toggleAward } from '../../discussions/award-emoji/verbs.ts'
import { setSubscribed } from '../../discussions/subscriptions/subscribe.ts'
import { markTodo, settleTodos } from '../../discussions/todos/add.ts'
import { humanDuration, readDuration } from '../time-tracking/duration.ts'
import { removeSpentTime, setEstimate, spendTime } from '../time-tracking/verbs.ts'
import { type CommandDesk, type CommandTable, named } from './desk.ts'
import { assigneeCommands } from './people.ts'
import { sortingCommands } from './sorting.ts'

function close(_: Ctx, desk: CommandDesk) {
  if (!desk.mayChange || desk.state !== 'opened') return undefined
  desk.wishes.state_event = 'close'
  return { changes: { state_event: 'close' }, message: `Closed this ${desk.word}.` }
}

function reopen(_: Ctx, desk: CommandDesk) {
  if (!desk.mayChange || desk.state !== 'closed') return undefined
  desk.wishes.state_event = 'reopen'
  return { changes: { state_event: 'reopen' }, message: `Reopened this ${desk.word}.` }
}

function setTitle(_: Ctx, desk: CommandDesk, argument: string) {
  if (!desk.mayChange || argument === '') return undefined
  desk.wishes.title = argument
  return { changes: { title: argument }, message: `Changed the title to "${argument}".` }
}

function lock(locked: boolean) {
  return (_: Ctx, desk: CommandDesk) => {
    if (!desk.maySort || desk.locked === locked) return undefined
    desk.wishes.discussion_locked = locked
    const message = locked ? 'Locked the discussion.' : 'Unlocked the discussion.'
    return { changes: { discussion_locked: locked }, message }
  }
}

function subjectOf(desk: CommandDesk) {
  const type = desk.word === 'issue' ? 'Issue' : 'MergeRequest'
  return { type, id: desk.id, projectId: desk.project.id } as const
}

function remember(ctx: Ctx, desk: CommandDesk) {
  return {
    changes: { todo_event: 'add' },
    message: 'Added a to-do item.',
    act: async () => void (await markTodo(ctx, subjectOf(desk))),
  }
}

function done(ctx: Ctx, desk: CommandDesk) {
  return {
    changes: { todo_event: 'done' },
    message: 'Marked to-do item as done.',
    act: () => settleTodos(ctx, subjectOf(desk)),
  }
}

function follow(subscribed: boolean) {
  return (ctx: Ctx, desk: CommandDesk) => ({
    changes: { subscription_event: subscribed ? 'subscribe' : 'unsubscribe' },
    message: subscribed
      ? `Subscribed to this ${desk.word}.`
      : `Unsubscribed from this ${desk.word}.`,
    async act() {
      const type = desk.word === 'issue' ? 'issue' : 'merge_request'
      await setSubscribed(ctx, type, desk.id, subscribed, await desk.followsByDefault())
    },
  })
}

function react(ctx: Ctx, desk: CommandDesk, argument: string) {
  const name = /^:?([a-z0-9_+-]{1,100}):?$/i.exec(argument)?.[1]
  if (name === undefined) return undefined
  return {
    changes: { emoji_award: name },
    message: `Toggled :${name}: emoji award.`,
    act: () => {
      const subject = { ...subjectOf(desk), noteable: desk.noteable, note: null }
      return toggleAward(ctx, desk.project, subject, name)
    },
  }
}

/** Names people so that they hear of it; the text of a note does that already, a bare command does nothing. */
function tell(_: Ctx, __: CommandDesk, argument: string) {
  return argument === '' ? undefined : { message: `CC: ${argument}.` }
}

function estimate(ctx: Ctx, desk: CommandDesk, argument: string) {
  const seconds = desk.maySort ? readDuration(argument) : null
  if (seconds === null || seconds <= 0) return undefined
  return {
    changes: { time_estimate: seconds },
    message: `Set time estimate to ${humanDuration(seconds)}.`,
    act: () => setEstimate(ctx, desk.timed, desk.timedSubject, seconds),
  }
}

function removeEstimate(ctx: Ctx, desk: CommandDesk) {
  if (!desk.maySort) return undefined
  return {
    changes: { time_estimate: 0 },
    message: 'Removed time estimate.',
    act: () => setEstimate(ctx, desk.timed, desk.timedSubject, 0),
  }
}

/** `/spend 1h 30m 2026-05-01`: the day is when, the time may be negative. */
function spend(ctx: Ctx, desk: CommandDesk, argument: string) {
  const found = /^(.*?)(?:\s+(\d{4}-\d{2}-\d{2}))?$/.exec(argument)
  const seconds = desk.maySort ? readDuration(found?.[1] ?? '') : null
  if (!seconds) return undefined
  const day = found?.[2]
  const at = day === undefined ? ctx.now() : `${day}T12:00:00.000Z`
  if (at.slice(0, 10) > ctx.now().slice(0, 10)) return undefined
  const word = seconds < 0 ? 'Subtracted' : 'Added'
  const user_id = userOf(ctx.actor)?.id ?? null
  return {
    changes: { spend_time: { duration: seconds, user_id, spent_at: at } },
    message: `${word} ${humanDuration(Math.abs(seconds))} spent time.`,
    act: () => spendTime(ctx, desk.timed, desk.timedSubject, { seconds, summary: null, at }),
  }
}

function removeSpent(ctx: Ctx, desk: CommandDesk) {
  if (!desk.maySort) return undefined
  return {
    changes: { spend_time: { duration: 'reset', user_id: userOf(ctx.actor)?.id ?? null } },
    message: 'Removed spent time.',
    act: () => removeSpentTime(ctx, desk.timed, desk.timedSubject),
  }
}

/** Commands that issues and merge requests share (docs/contract/D §1.11). */
export const generalCommands: CommandTable<CommandDesk> = {
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
  cc: tell,
  ...named(['estimate', 'estimate_time'], estimate),
  ...named(['remove_estimate', 'remove_time_estimate'], removeEstimate),
  ...named(['spend', 'spend_time', 'spent'], spend),
  remove_time_spent: removeSpent,
  ...assigneeCommands,
  ...sortingCommands,
}
