import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { askCheaply, askWhole, type Project } from './api.ts'
import { compare, git, milliseconds, type Row } from './measure.ts'
import { type Measurement, warmUp } from './question.ts'

/** Commits of many files through the API against git's plumbing on an index of its own. */
export function writes(): Measurement[] {
  return [
    ...counts.map((count) => ({
      what: `commit of ${count} changes`,
      measure: (project: Project) => writeRow(project, count),
    })),
    { what: 'commits over several branches', measure: rateRows },
  ]
}

const branches = 8
const writersOfEach = 2
const commitsOfEach = 60

/** Writers who share branches two by two, and whether every commit is there afterwards. */
async function* rateRows(project: Project): AsyncGenerator<Row> {
  const what = 'commits over several branches'
  const run = Date.now()
  const names = Array.from({ length: branches }, (_, i) => `bench-${run}-rate-${i}`)
  const commit = (branch: string, path: string, start?: string) =>
    askCheaply(project, 'commits', {
      branch,
      ...(start === undefined ? {} : { start_branch: start }),
      commit_message: 'One file',
      actions: [{ action: 'create', file_path: path, content: `${path}\n` }],
    })
  for (const name of names) await commit(name, 'first', project.branch)
  const writeAll = (round: string) =>
    Promise.all(
      names.flatMap((name) =>
        Array.from({ length: writersOfEach }, async (_, writer) => {
          for (let i = 0; i < commitsOfEach; i++) await commit(name, `${round}-${writer}/file-${i}`)
        }),
      ),
    )
  // As for reads: a server has been asked for a while, and its code is translated.
  await writeAll('warm')
  const time = await milliseconds(() => writeAll('by'))
  const wanted = branches * (1 + 2 * writersOfEach * commitsOfEach)
  const value = (branches * writersOfEach * commitsOfEach * 1000) / time
  yield {
    what,
    ours: `${value.toFixed(0)}/s`,
    theirs: '',
    value,
    unit: '/s',
    limit: 250,
    atLeast: true,
  }
  // Counted for each branch: the same change in the same second is the same commit on several.
  let kept = 0
  for (const name of names) {
    const range = [`refs/heads/${name}`, `^refs/heads/${project.branch}`]
    kept += Number(await git(project.stored, ['rev-list', '--count', ...range]))
  }
  const lost = wanted - kept
  yield {
    what: `${what}, lost`,
    ours: String(lost),
    theirs: '',
    value: lost,
    unit: 'count',
    limit: 0,
  }
}

const counts = [1, 100, 1000]

async function* writeRow(project: Project, count: number): AsyncGenerator<Row> {
  const scratch = join(project.folder, 'write')
  await mkdir(scratch, { recursive: true })
  // The data folder may be kept from one run to the next.
  const run = Date.now()
  // As for reads: a server has been asked for a while, and its code is translated.
  if (count === 1) await warmUp((n) => commitByApi(project, `bench-${run}-warm-${n}`, count))
  yield await compare(
    `commit of ${count} changes`,
    7,
    (n) => commitByApi(project, `bench-${run}-${count}-${n}`, count),
    (n) => commitByGit(project.stored, scratch, n, count),
    1,
  )
  await rm(scratch, { recursive: true })
}

async function commitByApi(project: Project, branch: string, count: number): Promise<void> {
  const actions = Array.from({ length: count }, (_, i) => ({
    action: 'create',
    file_path: `${branch}/${i % 20}/file-${i}.txt`,
    content: `content ${i}\n`,
  }))
  const body = { branch, start_branch: project.branch, commit_message: 'Many files', actions }
  await askWhole(project, 'commits', body)
}

async function commitByGit(
  stored: string,
  scratch: string,
  round: number,
  count: number,
): Promise<void> {
  const index = { GIT_INDEX_FILE: join(scratch, `index-${round}`) }
  await git(stored, ['read-tree', 'HEAD'], undefined, index)
  const files = Array.from({ length: count }, (_, i) => join(scratch, `file-${i}`))
  await Promise.all(files.map((file, i) => writeFile(file, `content ${round} ${i}\n`)))
  const paths = `${files.join('\n')}\n`
  const ids = (await git(stored, ['hash-object', '-w', '--stdin-paths'], paths)).split('\n')
  const lines = ids.map((id, i) => `100644 ${id}\tbench-${round}/${i % 20}/file-${i}.txt`)
  await git(stored, ['update-index', '--index-info'], `${lines.join('\n')}\n`, index)
  const tree = await git(stored, ['write-tree'], undefined, index)
  const commit = await git(stored, ['commit-tree', '-p', 'HEAD', '-m', 'Many files', tree])
  await git(stored, ['update-ref', `refs/heads/git-${count}-${round}`, commit])
}
