import { type NativeRepository, nodegit, type Oid, oid } from '../engine/native.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { readObject, readObjectHeader } from '../objects/objects.ts'
import { modeText, parseCommit } from '../objects/parse-object.ts'
import { emptyTrees, type ObjectId } from '../types.ts'
import { type ParsedFile, type RawChange, splitPatches } from './parse-diff.ts'

type NativeTree = object

interface NativeSide {
  path(): string
  id(): Oid
  mode(): number
}

interface NativeDelta {
  status(): number
  oldFile(): NativeSide
  newFile(): NativeSide
}

interface NativeDiff {
  numDeltas(): number
  getDelta(index: number): NativeDelta
  toBuf(format: number): Promise<string>
}

interface Nodegit {
  readonly Tree: { lookup(repository: NativeRepository, id: Oid): Promise<NativeTree> }
  readonly Diff: {
    treeToTree(
      repository: NativeRepository,
      from: NativeTree | null,
      to: NativeTree | null,
      options: object,
    ): Promise<NativeDiff>
    readonly OPTION: { readonly INDENT_HEURISTIC: number }
    readonly FORMAT: { readonly PATCH: number }
  }
}

/** Beyond these git is as fast or faster, and can be stopped half-way. */
const mostFiles = 50
const mostBytes = 8 * 1024 * 1024
/** Each takes a dozen calls of nodegit, 13 µs: beyond these git is as fast, its start included. */
const mostListed = 150

const statuses: Readonly<Record<number, RawChange['status']>> = {
  1: 'added',
  2: 'deleted',
  3: 'modified',
}
const submodule = 0o160000

/**
 * The changed files as libgit2 compares them, which is as git does where nothing can be a rename: nothing was deleted, or
 * nothing added. Undefined where git must be asked.
 */
export function nativeDiff(
  repository: OpenRepository,
  from: ObjectId,
  to: ObjectId,
  keep: number,
): Promise<readonly ParsedFile[] | undefined> {
  return undefinedOnFailure(async () => {
    const found = await compare(repository, from, to, mostFiles)
    if (!found || !(await isSmall(repository, found.changes))) return undefined
    const { changes, diff } = found
    if (changes.length === 0) return []
    const { Diff } = nodegit() as unknown as Nodegit
    const text = asGitPrints(await diff.toBuf(Diff.FORMAT.PATCH))
    return text === undefined ? undefined : [...splitPatches(changes, Buffer.from(text), keep)]
  })
}

/** As `nativeDiff`, without a look at what is in the files. */
export function nativeChanges(
  repository: OpenRepository,
  from: ObjectId,
  to: ObjectId,
): Promise<readonly RawChange[] | undefined> {
  return undefinedOnFailure(async () => (await compare(repository, from, to, mostListed))?.changes)
}

/** Git is asked then, and reports what is wrong with an object. */
async function undefinedOnFailure<Found>(find: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await find()
  } catch {
    return undefined
  }
}

async function compare(
  repository: OpenRepository,
  from: ObjectId,
  to: ObjectId,
  most: number,
): Promise<{ readonly diff: NativeDiff; readonly changes: readonly RawChange[] } | undefined> {
  // libgit2 as nodegit builds it knows SHA-1 only.
  if (from.length !== 40 || to.length !== 40) return undefined
  // A cast as in every file that declares its part of nodegit.
  const { Diff } = nodegit() as unknown as Nodegit
  const handle = await repository.handle()
  const [before, after] = await Promise.all([from, to].map((id) => treeOf(repository, handle, id)))
  const diff = await Diff.treeToTree(handle, before ?? null, after ?? null, {
    flags: Diff.OPTION.INDENT_HEURISTIC,
    contextLines: 3,
    interhunkLines: 0,
  })
  const changes = diff.numDeltas() > most ? undefined : changesOf(diff)
  return changes && { diff, changes }
}

/** The tree of a commit, or the one named; undefined for the empty one. */
async function treeOf(
  repository: OpenRepository,
  handle: NativeRepository,
  id: ObjectId,
): Promise<NativeTree | undefined> {
  if (emptyTrees.has(id)) return undefined
  const { type, data } = await readObject(repository, id)
  const treeId = type === 'commit' ? parseCommit(id, data).treeId : id
  if (emptyTrees.has(treeId)) return undefined
  const { Tree } = nodegit() as unknown as Nodegit
  return Tree.lookup(handle, oid(treeId))
}

/** The changed files of a comparison; undefined when a pair of them may be a rename. */
function changesOf(diff: NativeDiff): RawChange[] | undefined {
  const count = diff.numDeltas()
  const changes: RawChange[] = []
  const seen = new Set<RawChange['status']>()
  for (let index = 0; index < count; index += 1) {
    const delta = diff.getDelta(index)
    const status = statuses[delta.status()]
    if (status === undefined) return undefined
    seen.add(status)
    if (seen.has('added') && seen.has('deleted')) return undefined
    const [old, fresh] = [delta.oldFile(), delta.newFile()]
    changes.push({
      status,
      oldMode: modeText(old.mode()),
      newMode: modeText(fresh.mode()),
      oldId: old.id().tostrS(),
      newId: fresh.id().tostrS(),
      oldPath: old.path(),
      newPath: fresh.path(),
    })
  }
  return changes
}

/** Whether all files together are few bytes. */
async function isSmall(
  repository: OpenRepository,
  changes: readonly RawChange[],
): Promise<boolean> {
  let bytes = 0
  for (const change of changes) {
    const sides = [
      { id: change.oldId, mode: change.oldMode, there: change.status !== 'added' },
      { id: change.newId, mode: change.newMode, there: change.status !== 'deleted' },
    ]
    for (const { id, mode, there } of sides) {
      if (!there || mode === modeText(submodule)) continue
      bytes += (await readObjectHeader(repository, id)).size
      if (bytes > mostBytes) return false
    }
  }
  return true
}

/** A hunk's line with its heading, the line of the text above that looks like a name. */
const headings = /(?<=\n@@ -[\d,]+ \+[\d,]+ @@ )[^\n]+(?=\n)/g
/** Bytes of a heading that are shown. */
const headingBytes = 80

/** Where a heading was cut git takes the blanks off its end, and libgit2 does not. */
function cutHeading(heading: string): string {
  return Buffer.byteLength(heading) < headingBytes ? heading : heading.replace(/[ \t\r]+$/, '')
}

/** The patches with git's headings; undefined where those are cut in ways of its own. */
function asGitPrints(text: string): string | undefined {
  let isSure = true
  const printed = text.replace(headings, (heading) => {
    isSure &&= !heading.includes('\ufffd')
    return cutHeading(heading)
  })
  return isSure ? printed : undefined
}
