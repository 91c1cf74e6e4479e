import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { SYSTEM } from '../../../access/actor.ts'
import type { Ctx } from '../../../ctx.ts'
import { idsIn } from '../../../git/maintenance/lost-objects.ts'
import {
  bringObjects,
  salvagePacks,
  setAsideDamaged,
  writeLostRef,
} from '../../../git/maintenance/repair.ts'
import { listRefs } from '../../../git/refs/refs.ts'
import type { Repo } from '../../../git/repo.ts'
import type { RepoName } from '../../../git/repo-name.ts'
import { noObject } from '../../../git/types.ts'
import { type JournalKey, listLastMoves } from '../../../repositories/refs/journal/queries.ts'
import { finalizePush, openPush } from '../../../repositories/refs/journal/record.ts'
import { finalizeWikiPush } from '../../../repositories/refs/wiki-updater.ts'
import type { RefFault } from '../check/refs.ts'
import { listRelatives } from '../queries.ts'
import type { BackupSource } from './backup-source.ts'
import { MirrorObjects } from './mirror-objects.ts'

/** The repository of which something is to be mended. */
interface Patient {
  readonly name: RepoName
  readonly key: JournalKey
  readonly defaultBranch: string | undefined
  readonly isEmpty: boolean
}

interface Damage {
  readonly isMissing: boolean
  readonly packs: readonly { readonly name: string }[]
  readonly lost: readonly string[]
  readonly refs: readonly RefFault[]
}

interface Options {
  readonly backup: BackupSource
  readonly signal: AbortSignal
}

/**
 * Mends a repository from what knows more: the journal of moves and a backup its refs; forks, a backup and mirrors its objects.
 * Nothing that is there is taken away for good. Gives what was done, one sentence each.
 */
export async function mendRepository(
  ctx: Ctx,
  patient: Patient,
  damage: Damage,
  { backup, signal }: Options,
): Promise<string[]> {
  const { key } = patient
  const mirrors = new MirrorObjects(ctx, 'projectId' in key ? key.projectId : undefined)
  try {
    return await mendFrom(ctx, patient, damage, { backup, mirrors, signal })
  } finally {
    await mirrors.close()
  }
}

async function mendFrom(
  ctx: Ctx,
  patient: Patient,
  damage: Damage,
  { backup, mirrors, signal }: Options & { readonly mirrors: MirrorObjects },
): Promise<string[]> {
  const below = relative(ctx.config.data, ctx.git.open(patient.name).path)
  const sources = await objectSources(ctx, patient, backup, below)
  const wanted = await wantedRefs(ctx, patient, damage, await backup.refsOf(below))
  const done: string[] = []
  if (damage.isMissing) {
    if (sources.length === 0) sources.push(...(await mirrors.folders(signal)))
    // Without objects it would look like a project in which nobody has written anything.
    if (!patient.isEmpty && (wanted.size === 0 || sources.length === 0)) return []
    await ctx.git.init(patient.name, { defaultBranch: patient.defaultBranch ?? 'main' })
    done.push('its folder is made again')
  }
  const repo = ctx.git.open(patient.name)
  done.push(...(await setAside(repo, damage, signal)))
  const there = await listRefs(repo, { prefix: 'refs/', withoutBroken: true })
  const tips = [...there.map(({ id }) => id), ...[...wanted.values()].map(({ id }) => id)]
  const whole = await bringAll(repo, tips, { sources, mirrors, signal })
  const lacked = damage.lost.length + damage.packs.length > 0
  if (lacked && tips.every((id) => whole.has(id))) {
    done.push('nothing of what its refs lead to is missing now')
  }
  if (damage.isMissing && wanted.size > 0 && whole.size === 0) {
    await ctx.git.remove(patient.name)
    return []
  }
  done.push(...(await writeRefs(repo, wanted, whole)))
  done.push(...(await learnNewer(ctx, patient.key, damage.refs)))
  return done
}

/** Writes the refs again for which nothing is missing. */
async function writeRefs(
  repo: Repo,
  wanted: ReadonlyMap<string, Wanted>,
  whole: ReadonlySet<string>,
): Promise<string[]> {
  const done: string[] = []
  for (const [name, { id, before }] of wanted) {
    if (!whole.has(id)) continue
    await writeLostRef(repo, name, id, before)
    done.push(`${name} is at ${id} again`)
  }
  return done
}

/** Takes damaged packs and objects out of the way. */
async function setAside(repo: Repo, { packs, lost }: Damage, signal: AbortSignal) {
  const names = packs.map(({ name }) => name)
  if (names.length > 0) await salvagePacks(repo, names, signal)
  await setAsideDamaged(repo, idsIn(lost), signal)
  if (names.length === 0) return []
  return [`set aside ${names.join(', ')} in damaged-objects, after what could be read of it`]
}

/** As `bringObjects`. Other servers are asked last: they may be slow, and their logs show it. */
async function bringAll(
  repo: Repo,
  tips: readonly string[],
  from: {
    readonly sources: readonly string[]
    readonly mirrors: MirrorObjects
    readonly signal: AbortSignal
  },
): Promise<ReadonlySet<string>> {
  const near = await bringObjects(repo, tips, from.sources, from.signal)
  if (tips.every((id) => near.has(id))) return near
  const far = await from.mirrors.folders(from.signal)
  return far.length === 0 ? near : await bringObjects(repo, tips, far, from.signal)
}

async function objectSources(
  ctx: Ctx,
  { key, name }: Patient,
  backup: BackupSource,
  below: string,
): Promise<string[]> {
  const relatives = 'projectId' in key ? await listRelatives(ctx.db, key.projectId) : []
  const forks = relatives
    .filter((id) => id !== name)
    .map((id) => join(ctx.git.open(id).path, 'objects'))
  const kept = await backup.objectsOf(below)
  return [...forks, ...(kept === undefined ? [] : [kept])].filter((path) => existsSync(path))
}

interface Wanted {
  readonly id: string
  /** What the ref holds now. */
  readonly before: string | undefined
}

/** Refs that are to be written again: as the journal knows them, else as a backup does. */
async function wantedRefs(
  ctx: Ctx,
  { key }: Patient,
  { isMissing, refs }: Damage,
  backup: ReadonlyMap<string, string>,
): Promise<Map<string, Wanted>> {
  const wanted = new Map<string, Wanted>()
  for (const { kind, name, known, there } of refs) {
    const id = known ?? backup.get(name)
    if (kind === 'lost' && id !== undefined) wanted.set(name, { id, before: there })
  }
  if (!isMissing) return wanted
  for (const [name, id] of backup) wanted.set(name, { id, before: undefined })
  for (const { ref, new_id, state } of await listLastMoves(ctx.db, key)) {
    if (state !== 'moved') continue
    if (/^0+$/.test(new_id)) wanted.delete(ref)
    else wanted.set(ref, { id: new_id, before: undefined })
  }
  return wanted
}

/** Has the database know refs that are newer than it is: what follows from a push follows, but no pipeline starts. */
async function learnNewer(ctx: Ctx, key: JournalKey, refs: readonly RefFault[]): Promise<string[]> {
  const newer = refs.filter(({ kind }) => kind === 'newer')
  if (newer.length === 0) return []
  const moves = newer.map(({ name, known, there }) => ({
    name,
    oldId: known ?? noObject,
    newId: there ?? noObject,
  }))
  const system = { ...ctx, actor: SYSTEM }
  const push = { via: 'system' as const, options: ['ci.skip'], moves }
  const id = await openPush(system, key, push)
  const moved = new Set(moves.map(({ name }) => name))
  if ('projectId' in key) await finalizePush(system, key.projectId, id, moved)
  else await finalizeWikiPush(system, id, moved)
  return newer.map(({ name, there }) => `the database knows ${name} at ${there} now`)
}
