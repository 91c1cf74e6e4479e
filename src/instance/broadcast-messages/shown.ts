import { findVisibleGroup, findVisibleProject } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { isActive, presentBroadcastMessage } from './entity.ts'
import { listNewestMessages } from './queries.ts'

/** Where a page is shown: its path, and the project or group that it belongs to, if it does. */
export interface ViewedPlace {
  readonly path: string
  readonly subject: string | undefined
}

/** The messages that the caller is to see on a page now (docs/contract/A-resolved §12). */
export async function listShownMessages(ctx: Ctx, place: ViewedPlace) {
  const now = ctx.now()
  const rows = await listNewestMessages(ctx.db)
  const here = rows
    .filter((row) => isActive(row, now))
    .map((row) => presentBroadcastMessage(row, now))
    .filter(({ target_path: path }) => path === '' || matchesPath(path, place.path))
  if (here.every(({ target_access_levels: levels }) => levels.length === 0)) return here
  const role = await roleIn(ctx, place.subject)
  return here.filter(
    ({ target_access_levels: levels }) =>
      levels.length === 0 || (role !== undefined && levels.includes(role)),
  )
}

async function roleIn(ctx: Ctx, subject: string | undefined): Promise<number | undefined> {
  if (subject === undefined) return undefined
  const project = await findVisibleProject(ctx, subject)
  return (project ?? (await findVisibleGroup(ctx, subject)))?.role
}

/** Whether a whole path is as the pattern says, in which `*` is any text. */
export function matchesPath(pattern: string, path: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/^\//, '')
  const [first = '', ...others] = plain(pattern).split('*')
  const text = plain(path)
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
