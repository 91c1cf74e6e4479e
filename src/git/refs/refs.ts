import { engineCall } from '../engine/engine-call.ts'
import { operation } from '../engine/operation.ts'
import { isDamage } from '../error.ts'
import { assertRefName, isObjectId } from '../names.ts'
import { compareNames, refsOf } from '../ref-files/ref-table.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId, Ref } from '../types.ts'

export interface Head {
  /** The full name of the branch that HEAD points at, also when that does not exist yet. */
  readonly ref?: string | undefined
  /** The commit; none in an empty repository. */
  readonly id?: ObjectId | undefined
}

const readHeadOperation = operation({
  name: 'readHead',
  lane: 'light',
  inProcess: () => true,
  async run({ repository }): Promise<Head> {
    const refs = refsOf(repository)
    const ref = refs.follow('HEAD')
    const id = refs.find('HEAD')
    return {
      ...(ref === undefined || ref === 'HEAD' ? {} : { ref }),
      ...(id !== undefined && isObjectId(id) ? { id } : {}),
    }
  },
})

/** Where HEAD points. */
export function readHead(repo: Repo): Promise<Head> {
  return repo.engine.run(readHeadOperation, repo.path, undefined)
}

/** A ref by its full name; undefined when there is none. */
export const findRef = engineCall({
  name: 'findRef',
  lane: 'light',
  inProcess: () => true,
  async run({ repository }, name: string): Promise<Ref | undefined> {
    const id = refsOf(repository).find(assertRefName(name))
    return id !== undefined && isObjectId(id) ? { name, id } : undefined
  },
})

/** What refs hold now; those that do not exist are left out. */
export async function readRefValues(
  repo: Repo,
  names: readonly string[],
): Promise<Map<string, ObjectId>> {
  const found = await Promise.all(names.map((name) => findWhole(repo, name)))
  return new Map(found.flatMap((ref) => (ref ? [[ref.name, ref.id] as const] : [])))
}

/** Undefined also for a ref that is broken: it holds nothing that could be compared. */
async function findWhole(repo: Repo, name: string): Promise<Ref | undefined> {
  try {
    return await findRef(repo, name)
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

export interface ListRefsOptions {
  /** The start of full names, up to a slash: `refs/heads/`. */
  readonly prefix: string
  /** Only names after this one. */
  readonly after?: string | undefined
  readonly limit?: number | undefined
  /** Leaves out refs that are broken, for which others get an error: `damaged`. */
  readonly withoutBroken?: boolean | undefined
}

/** The refs below a prefix, by name. */
export const listRefs = engineCall({
  name: 'listRefs',
  lane: 'light',
  inProcess: () => true,
  async run({ repository }, options: ListRefsOptions): Promise<Ref[]> {
    if (!refsOf(repository).isShort(options.prefix)) repository.assertEngine('a long list of refs')
    if (!options.withoutBroken) refsOf(repository).assertWhole(options.prefix)
    const refs = refsOf(repository).list(options.prefix)
    const { after, limit = refs.length } = options
    if (after === undefined) return refs.slice(0, limit)
    const from = refs.findIndex((ref) => compareNames(ref.name, after) > 0)
    return from < 0 ? [] : refs.slice(from, from + limit)
  },
})
