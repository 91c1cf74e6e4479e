import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { migrations } from '../../src/areas.ts'
import { openStore } from '../../src/store/connection.ts'
import type { Db } from '../../src/store/schema.ts'
import { git, median, type Row } from './measure.ts'
import type { BenchServer } from './server.ts'
import type { Timer } from './timer.ts'

/** What the reviews of a project are measured with. */
export interface ReviewPlace {
  readonly server: BenchServer
  readonly timer: Timer
  /** An empty folder. */
  readonly folder: string
  say(line: string): void
}

const many = 50_000
const now = '2026-05-04T10:00:00.000Z'

interface Bench extends ReviewPlace {
  /** `http://…/api/v4/projects/7` */
  readonly api: string
  readonly id: number
  /** A clone of the project. */
  readonly work: string
}

/** Comments, long lists of merge requests, and pushes to a branch that many of them come from. */
export async function* benchReview(place: ReviewPlace): AsyncGenerator<Row> {
  const bench = await prepare(place)
  yield* comments(bench)
  yield* pushes(bench)
  yield* lists(bench)
}

async function prepare(place: ReviewPlace): Promise<Bench> {
  const { server, folder } = place
  const work = join(folder, 'review')
  await mkdir(work, { recursive: true })
  await git(work, ['init', '-q', '-b', 'main'])
  await commit(work, 'Begin')
  await git(work, ['push', '-q', server.remote('review'), 'main'])
  for (const branch of ['busy', 'calm']) {
    await git(work, ['checkout', '-q', '-B', branch, 'main'])
    await commit(work, branch)
    await git(work, ['push', '-q', '-f', server.remote('review'), branch])
  }
  const url = `${server.url}/api/v4/projects/${encodeURIComponent('bench/review')}`
  const { id } = (await ask(place, url)) as { id: number } // the wire's word for a project
  return { ...place, api: `${server.url}/api/v4/projects/${id}`, id, work }
}

const person = { name: 'Bench', email: 'bench@example.com' }

async function commit(work: string, message: string): Promise<void> {
  const config = ['-c', `user.name=${person.name}`, '-c', `user.email=${person.email}`]
  await git(work, [...config, 'commit', '-q', '--allow-empty', '-m', message])
}

async function ask(place: ReviewPlace, url: string, body?: object): Promise<unknown> {
  const response = await fetch(url, {
    headers: headersOf(place),
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return await response.json()
}

const headersOf = ({ server }: ReviewPlace) => ({
  'PRIVATE-TOKEN': server.token,
  'content-type': 'application/json',
})

/** The median of requests that each take a few milliseconds. */
async function timed(
  place: ReviewPlace,
  what: string,
  limit: number,
  url: string,
  body?: object,
): Promise<Row> {
  const call = { url, headers: headersOf(place), ...(body ? { body: JSON.stringify(body) } : {}) }
  const times: number[] = []
  let spent = 0
  for (let round = 0; round < 60 && spent < 1500; round += 1) {
    const time = await place.timer.http(call)
    spent += time
    times.push(time)
  }
  // The first ones warm the server up.
  const value = median(times.slice(Math.floor(times.length / 3)))
  place.say(`${what}: ${value.toFixed(2)} ms`)
  return { what, ours: `${value.toFixed(2)} ms`, theirs: '', value, unit: 'ms', limit }
}

async function* comments(bench: Bench): AsyncGenerator<Row> {
  bench.say('comments')
  const { api } = bench
  await ask(bench, `${api}/issues`, { title: 'Discuss' })
  await ask(bench, `${api}/merge_requests`, {
    source_branch: 'calm',
    target_branch: 'main',
    title: 'Discuss',
  })
  const body = { body: 'A comment with a few words, as people write them.' }
  yield await timed(bench, 'comment on an issue', 5, `${api}/issues/1/notes`, body)
  yield await timed(bench, 'comment on a merge request', 5, `${api}/merge_requests/1/notes`, body)
}

/** What fifty open merge requests add to a push to their branch. */
async function* pushes(bench: Bench): AsyncGenerator<Row> {
  bench.say('pushes')
  for (let at = 0; at < 50; at += 1) {
    const target = `target-${at}`
    await git(bench.work, [
      'push',
      '-q',
      bench.server.remote('review'),
      `main:refs/heads/${target}`,
    ])
    const input = { source_branch: 'busy', target_branch: target, title: target }
    await ask(bench, `${bench.api}/merge_requests`, input)
  }
  await new Promise((resolve) => setTimeout(resolve, 5000))
  const times: Record<string, number[]> = { busy: [], calm: [] }
  for (let round = 0; round < 5; round += 1) {
    for (const branch of ['busy', 'calm']) {
      await git(bench.work, ['checkout', '-q', branch])
      await commit(bench.work, `${branch} ${round}`)
      const args = ['push', '-q', bench.server.remote('review'), branch]
      const time = await bench.timer.git(bench.work, args)
      if (round > 0) times[branch]?.push(time)
      // What follows in the background is not what a push waits for, nor shall the next one.
      await new Promise((resolve) => setTimeout(resolve, branch === 'busy' ? 6000 : 500))
    }
  }
  const [busy, calm] = [median(times.busy ?? []), median(times.calm ?? [])]
  yield {
    what: 'push with 50 open merge requests, beyond one without',
    ours: `${busy.toFixed(1)} ms`,
    theirs: '',
    value: Math.max(0, busy - calm),
    unit: 'ms',
    limit: 30,
  }
}

const filters: readonly (readonly [string, string])[] = [
  ['newest', ''],
  ['open', 'state=opened'],
  ['merged, by time of merge', 'state=merged&order_by=merged_at'],
  ['with a label', 'labels=bug'],
  ['without a label', 'labels=None'],
  ['search', 'search=number+49'],
  ['of an author', 'author_username=bench'],
  ['assigned', 'assignee_id=Any&state=opened'],
  ['by source branch', 'source_branch=branch-40000'],
  ['by changes, page 100', 'order_by=updated_at&page=100'],
  ['by title', 'order_by=title&sort=asc'],
  ['approved', 'approved=yes'],
  ['drafts', 'wip=yes'],
]

async function* lists(bench: Bench): AsyncGenerator<Row> {
  bench.say(`${many} merge requests`)
  const store = openStore(bench.server.data, { migrations, mayMigrate: false })
  try {
    await addMany(store.db, bench.id)
  } finally {
    await store.close()
  }
  for (const [name, query] of filters) {
    const url = `${bench.api}/merge_requests?per_page=20&${query}`
    // What a page takes beside its statements is 5 ms at most.
    yield await timed(bench, `20 of 50,000 merge requests: ${name}`, 25, url)
  }
}

export async function addMany(db: Db, projectId: number): Promise<void> {
  const user = await db
    .selectFrom('users')
    .select('id')
    .where('username', '=', 'bench')
    .executeTakeFirstOrThrow()
  const label = { project_id: projectId, title: 'bug', color: '#112233' }
  const times = { created_at: now, updated_at: now }
  const bug = await db
    .insertInto('labels')
    .values({ ...label, ...times })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (let at = 0; at < many; at += 500) {
    const rows = Array.from({ length: 500 }, (_, index) =>
      requestOf(projectId, user.id, at + index),
    )
    await db.transaction().execute(async (db) => {
      const made = await db.insertInto('merge_requests').values(rows).returning('id').execute()
      const ids = made.map((row) => row.id)
      const labelled = ids.filter((id) => id % 10 === 0)
      const subject = { subject_type: 'merge_request' as const }
      await db
        .insertInto('label_links')
        .values(labelled.map((subject_id) => ({ ...subject, subject_id, label_id: bug.id })))
        .execute()
      await db
        .insertInto('assignees')
        .values(
          labelled.map((subject_id) => ({
            ...subject,
            subject_id,
            user_id: user.id,
            created_at: now,
          })),
        )
        .execute()
    })
  }
}

function requestOf(projectId: number, authorId: number, at: number) {
  const at4 = String(at).padStart(6, '0')
  const merged = at % 3 !== 0
  const minute = String(at % 60).padStart(2, '0')
  const hour = String(Math.floor(at / 60) % 24).padStart(2, '0')
  const time = `2025-01-${String((Math.floor(at / 1440) % 28) + 1).padStart(2, '0')}T${hour}:${minute}:00.000Z`
  return {
    iid: 1000 + at,
    target_project_id: projectId,
    source_project_id: projectId,
    source_branch: `branch-${at}`,
    target_branch: 'main',
    title: `${at % 50 === 0 ? 'Draft: ' : ''}Change number ${at4}`,
    description: 'A description of some length, so that rows are not empty. '.repeat(5),
    draft: at % 50 === 0,
    state: merged ? ('merged' as const) : ('opened' as const),
    author_id: authorId,
    merge_status: 'can_be_merged' as const,
    head_sha: '1'.repeat(40),
    merged_at: merged ? time : null,
    prepared_at: time,
    created_at: time,
    updated_at: time,
  }
}
