import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import { readNames } from '../../discussions/notes/commands.ts'
import { listUsersByName } from '../../discussions/references/queries.ts'
import { listUsersBasic } from '../../identity/users/basic-queries.ts'
import { assignable } from '../assignees/verbs.ts'
import type { CommandContext, CommandTable } from './command-context.ts'
import { named } from './command-context.ts'

interface CalledUser {
  readonly id: number
  readonly username: string
}

/** The users whom an argument names and who may be made responsible; `me` is the caller. */
async function usersIn(ctx: Ctx, context: CommandContext, argument: string): Promise<CalledUser[]> {
  const me = userOf(ctx.actor)?.username
  const names = readNames(argument).map((name) => (name === 'me' && me ? me : name))
  const users = await listUsersByName(ctx.db, names.slice(0, 50))
  const ids = users.map((user) => user.id)
  return await assignable(ctx, context.project, ids)
}

function list(users: readonly CalledUser[]): string {
  const names = users.map((user) => `@${user.username}`)
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

type Role = 'assignee' | 'reviewer'
const fields = { assignee: 'assignee_ids', reviewer: 'reviewer_ids' } as const

function idsOf(context: CommandContext, role: Role): readonly number[] {
  return (
    context.edits[fields[role]] ?? (role === 'assignee' ? context.assigneeIds : context.reviewerIds)
  )
}

function put(context: CommandContext, role: Role, ids: readonly number[]) {
  context.edits[fields[role]] = [...ids]
  return { [fields[role]]: [...ids] }
}

function added(role: Role, users: readonly CalledUser[]): string {
  return role === 'assignee' ? `Assigned ${list(users)}.` : `Assigned ${list(users)} as reviewer.`
}

function add(role: Role) {
  return async (ctx: Ctx, context: CommandContext, argument: string) => {
    const users = context.maySort ? await usersIn(ctx, context, argument || 'me') : []
    if (users.length === 0) return undefined
    const ids = new Set([...idsOf(context, role), ...users.map((user) => user.id)])
    return { changes: put(context, role, [...ids]), message: added(role, users) }
  }
}

function replace(role: Role) {
  return async (ctx: Ctx, context: CommandContext, argument: string) => {
    const users = context.maySort ? await usersIn(ctx, context, argument) : []
    if (users.length === 0) return undefined
    const ids = users.map((user) => user.id)
    return { changes: put(context, role, ids), message: added(role, users) }
  }
}

function remove(role: Role) {
  return async (ctx: Ctx, context: CommandContext, argument: string) => {
    const before = idsOf(context, role)
    if (!context.maySort || before.length === 0) return undefined
    const everybody = await listUsersBasic(ctx.db, before)
    const names = readNames(argument)
    const gone = names.length === 0 ? everybody : await listUsersByName(ctx.db, names)
    const ids = gone.map((user) => user.id)
    const kept = before.filter((id) => !ids.includes(id))
    if (kept.length === before.length) return undefined
    const word = gone.length === 1 ? role : `${role}s`
    return { changes: put(context, role, kept), message: `Removed ${word} ${list(gone)}.` }
  }
}

export const assigneeCommands: CommandTable<CommandContext> = {
  assign: add('assignee'),
  reassign: replace('assignee'),
  ...named(['unassign', 'remove_assignee'], remove('assignee')),
}

export const reviewerCommands: CommandTable<CommandContext> = {
  ...named(['assign_reviewer', 'reviewer', 'request_review'], add('reviewer')),
  reassign_reviewer: replace('reviewer'),
  ...named(['unassign_reviewer', 'remove_reviewer'], remove('reviewer')),
}
