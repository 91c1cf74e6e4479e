import type { OpenRepository } from '../engine/open-repository.ts'
import { isObjectId } from '../names.ts'
import { resolveCommit } from '../objects/resolve.ts'
import { refsOf } from '../ref-files/ref-table.ts'
import type { ObjectId } from '../types.ts'
import { historyWith } from './graph/load.ts'
import { mergeBases } from './graph/paint.ts'
import { peelAll } from './peel.ts'

/** Reachable from any of the first, from none of the second. */
export interface LogRange {
  readonly include: readonly ObjectId[]
  readonly exclude: readonly ObjectId[]
}

/** The commits that a name, `a..b` or `a...b` stands for; a missing side is `HEAD`. */
export async function resolveRange(
  repository: OpenRepository,
  revision: string,
): Promise<LogRange> {
  const found = /^(.*?)(\.{2,3})(.*)$/s.exec(revision)
  const resolve = async (name: string | undefined) =>
    (await resolveCommit(repository, name || 'HEAD')).commitId
  if (!found) return { include: [await resolve(revision)], exclude: [] }
  const [, from, dots, to] = found
  const [left, right] = [await resolve(from), await resolve(to)]
  if (dots === '..') return { include: [right], exclude: [left] }
  const history = await historyWith(repository, [left, right])
  const bases = mergeBases(history, history.at(left), [history.at(right)])
  return { include: [left, right], exclude: bases.map((base) => history.idOf(base)) }
}

/** Refs that are ours alone: what only they reach is no part of what users see. */
const internal = /^refs\/(?:keep-around|tmp|remotes|environments|pipelines)\//

/** The tips of all refs that users see, and HEAD. */
export async function allTips(repository: OpenRepository): Promise<LogRange> {
  const refs = refsOf(repository)
  const ids = refs
    .list()
    .filter((ref) => !internal.test(ref.name))
    .map((ref) => ref.id)
  const head = refs.find('HEAD')
  if (head !== undefined && isObjectId(head)) ids.push(head)
  const commits = await peelAll(repository, [...new Set(ids)])
  return { include: [...new Set(commits.filter((id) => id !== undefined))], exclude: [] }
}
