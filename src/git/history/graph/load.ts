import { gitRecords } from '../../command.ts'
import type { OpenRepository } from '../../engine/open-repository.ts'
import { readLinked } from '../../objects/objects.ts'
import { parseCommit } from '../../objects/parse-object.ts'
import type { ObjectId } from '../../types.ts'
import { graphStamp, readGraph } from './graph-file.ts'
import { History, type HistoryCommit } from './history.ts'

interface Holder {
  history: History | undefined
  stamp: string
  /** Inclusions run one after the other: each changes the same tables. */
  queue: Promise<unknown>
}

const holderKey = Symbol('history')

function holderOf(repository: OpenRepository): Holder {
  return repository.keep(holderKey, () => ({
    history: undefined,
    stamp: '',
    queue: Promise.resolve(),
  }))
}

/** New commits that may pile up before newer graph files are worth reading. */
const addedAllowed = 500
/** Commits read one by one before the git program lists the rest in one go. */
const singleReads = 300

/** The history of a repository as far as it is known now: the graph, and what was included. */
export function currentHistory(repository: OpenRepository): History {
  repository.assertEngine('a history')
  const holder = holderOf(repository)
  const stamp = graphStamp(repository.path)
  const { history } = holder
  const stale =
    stamp !== holder.stamp &&
    (!history || history.inGraph === 0 || history.size - history.inGraph > addedAllowed)
  if (history && !stale) return history
  holder.history = fromGraph(repository.path)
  holder.stamp = stamp
  return holder.history
}

/** What the graph files hold; nothing when they are damaged, since the commits themselves hold it too. */
function fromGraph(path: string): History {
  try {
    return new History(readGraph(path))
  } catch {
    return new History([])
  }
}

/** The history with these commits and everything they come from. */
export async function historyWith(
  repository: OpenRepository,
  ids: readonly ObjectId[],
): Promise<History> {
  const history = currentHistory(repository)
  const missing = ids.filter((id) => history.find(id) < 0)
  if (missing.length === 0) return history
  const holder = holderOf(repository)
  // A failure of one before was caught.
  const done = holder.queue.then(() => include(repository, history, missing))
  holder.queue = done.catch(() => {})
  await done
  return history
}

async function include(
  repository: OpenRepository,
  history: History,
  ids: readonly ObjectId[],
): Promise<void> {
  const read = new Map<ObjectId, HistoryCommit>()
  let wanted = [...new Set(ids)].filter((id) => history.find(id) < 0)
  while (wanted.length > 0) {
    if (read.size > singleReads) {
      await listRest(repository, history, wanted, read)
      break
    }
    const commits = await Promise.all(wanted.map((id) => readOne(repository, id)))
    for (const commit of commits) read.set(commit.id, commit)
    const parents = new Set(commits.flatMap((commit) => commit.parentIds))
    wanted = [...parents].filter((id) => !read.has(id) && history.find(id) < 0)
  }
  addAll(history, read)
}

async function readOne(repository: OpenRepository, id: ObjectId): Promise<HistoryCommit> {
  const commit = parseCommit(id, await readLinked(repository, id, 'commit'))
  return {
    id,
    treeId: commit.treeId,
    parentIds: commit.parentIds,
    seconds: commit.committer.seconds,
  }
}

/** Many commits at once: one process that lists them is faster than one read for each. */
async function listRest(
  repository: OpenRepository,
  history: History,
  from: readonly ObjectId[],
  into: Map<ObjectId, HistoryCommit>,
): Promise<void> {
  const known = new Set<ObjectId>()
  for (const commit of into.values()) {
    for (const parent of commit.parentIds) if (history.find(parent) >= 0) known.add(parent)
  }
  const lines = gitRecords(
    {
      repo: repository.path,
      args: ['log', '--format=%H %T %ct %P', '--stdin'],
      stdin: `${[...from, ...[...known].map((id) => `^${id}`)].join('\n')}\n`,
    },
    0x0a,
  )
  for await (const line of lines) {
    const [id, treeId, seconds, ...parentIds] = line.toString('latin1').split(' ')
    if (id === undefined || treeId === undefined || into.has(id) || history.find(id) >= 0) continue
    into.set(id, { id, treeId, parentIds: parentIds.filter(Boolean), seconds: Number(seconds) })
  }
}

/** Adds commits so that parents come before children. */
function addAll(history: History, read: ReadonlyMap<ObjectId, HistoryCommit>): void {
  for (const start of read.values()) {
    const stack = [start]
    for (let commit = stack.at(-1); commit; commit = stack.at(-1)) {
      const missing = commit.parentIds.find((id) => history.find(id) < 0)
      if (missing === undefined) {
        history.add(commit)
        stack.pop()
        continue
      }
      const parent = read.get(missing)
      // A parent that nobody has: the repository is broken there; reading it said so already.
      if (!parent) throw new Error(`the parent ${missing} was not read`)
      stack.push(parent)
    }
  }
}
