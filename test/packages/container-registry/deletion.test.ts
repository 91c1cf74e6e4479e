import { beforeAll, describe, expect, test } from 'vitest'
import { removeTags } from '../../../src/packages/images/remove-tags.ts'
import type { Db } from '../../../src/store/schema.ts'
import { atOnce } from '../../support/at-once.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { askRegistry, pushImage } from './push-image.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let projectId: number
let at: string
const START = '2026-05-04T10:00:00.000Z'

beforeAll(async () => {
  const groupId = (await createGroup(ana, 'g')).id
  projectId = (await createProject(ana, 'p', { namespace_id: groupId })).id
  at = `/projects/${projectId}/registry/repositories`
})

async function repositoryOf(name: string): Promise<number> {
  const { body } = await ana.get(`${at}?per_page=100`)
  return body.find((one: { name: string }) => one.name === name).id
}

/** Pushes an image, and tags it each an hour after the time before; gives where the tags of the repository are. */
async function tagged(name: string, ...tags: readonly string[]): Promise<string> {
  world.setNow(START)
  const [first = '', ...others] = tags
  expect((await pushImage(world, ana, `g/p/${name}`, first)).answer.status).toBe(201)
  const { body } = await askRegistry(world, ana, 'GET', `g/p/${name}/manifests/${first}`)
  const headers = { 'Content-Type': body.mediaType }
  for (const [hours, tag] of others.entries()) {
    world.setNow(new Date(Date.parse(START) + (hours + 1) * 3_600_000).toISOString())
    const path = `g/p/${name}/manifests/${tag}`
    const put = await askRegistry(world, ana, 'PUT', path, JSON.stringify(body), headers)
    expect(put.status).toBe(201)
  }
  return `${at}/${await repositoryOf(name)}/tags`
}

async function left(tags: string): Promise<string[]> {
  const { body } = await ana.get(`${tags}?per_page=100`)
  return body.map((one: { name: string }) => one.name)
}

describe('of the tags of a repository', () => {
  const all = ['1.0', '1.1', '2.0', 'dev', 'latest']
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['whole names match', 'name_regex_delete=1', ['1.0', '1.1', '2.0', 'dev', 'latest']],
    ['a pattern matches', 'name_regex_delete=1%5C..*', ['2.0', 'dev', 'latest']],
    ['one of two patterns matches', 'name_regex_delete=dev%7C2%5C.0', ['1.0', '1.1', 'latest']],
    ['all match, the latest stays', 'name_regex_delete=.*', ['latest']],
    ['the old name of the parameter counts', 'name_regex=dev', ['1.0', '1.1', '2.0', 'latest']],
    [
      'a second pattern keeps some',
      'name_regex_delete=.*&name_regex_keep=1.*',
      ['1.0', '1.1', 'latest'],
    ],
    ['the newest are kept', 'name_regex_delete=.*&keep_n=1', ['dev', 'latest']],
    [
      'the newest of those that match are kept',
      'name_regex_delete=1.*&keep_n=1',
      ['1.1', '2.0', 'dev', 'latest'],
    ],
    ['none of the newest is kept', 'name_regex_delete=.*&keep_n=0', ['latest']],
    ['only older ones go', 'name_regex_delete=.*&older_than=2h', ['2.0', 'dev', 'latest']],
    [
      'a day is no hour',
      'name_regex_delete=.*&older_than=1d',
      ['1.0', '1.1', '2.0', 'dev', 'latest'],
    ],
    [
      'the newest are kept, however old',
      'name_regex_delete=.*&keep_n=3&older_than=1h',
      ['1.1', '2.0', 'dev', 'latest'],
    ],
  ]

  test.each(cases)('those go where %s (%s)', async (_what, query, kept) => {
    const name = `bulk${cases.findIndex((one) => one[1] === query)}`
    const tags = await tagged(name, ...all)
    const answer = await ana.delete(`${tags}?${query}`)
    expect([answer.status, answer.body]).toEqual([202, { message: '202 Accepted' }])
    await world.runTasks()
    expect(await left(tags)).toEqual([...kept].sort())
  })

  test.each([
    '',
    'name_regex_delete=(',
    'name_regex_delete=%5B',
    `name_regex_delete=${'a'.repeat(256)}`,
    'name_regex_delete=.*&name_regex_keep=(',
    'name_regex_delete=.*&keep_n=x',
    'name_regex_delete=.*&keep_n=-1',
    'name_regex_delete=.*&older_than=1x',
    'name_regex_delete=.*&older_than=d',
    'name_regex_delete=.*&older_than=-1d',
  ])('none goes by %j, which is refused and may be corrected', async (query) => {
    const tags = await tagged('refused', 'a')
    expect((await ana.delete(`${tags}?${query}`)).status).toBe(400)
    await world.runTasks()
    expect(await left(tags)).toEqual(['a'])
    const { bulk_deletion_at } = await world.ctx.db
      .selectFrom('container_repositories')
      .select('bulk_deletion_at')
      .where('name', '=', 'refused')
      .executeTakeFirstOrThrow()
    expect(bulk_deletion_at).toBeNull()
  })

  test('none stays for a pattern that others evaluate for hours', async () => {
    const tags = await tagged('slow', `${'a'.repeat(100)}`, 'b')
    const pattern = encodeURIComponent('(a+)+b?c|b')
    expect((await ana.delete(`${tags}?name_regex_delete=${pattern}`)).status).toBe(202)
    const begin = performance.now()
    await world.runTasks()
    expect(performance.now() - begin).toBeLessThan(10_000)
    expect(await left(tags)).toEqual(['a'.repeat(100)])
  })

  test('one that is pushed anew while others are chosen stays', async () => {
    const tags = await tagged('raced', 'old', 'moved')
    const repositoryId = await repositoryOf('raced')
    world.setNow('2026-05-04T12:00:00.000Z')
    const pushedBy = world.ctx.now()
    world.setNow('2026-05-04T12:00:01.000Z')
    const { digest } = await pushImage(world, ana, 'g/p/raced', 'moved', 'another image')
    await removeTags(world.ctx, repositoryId, ['old', 'moved'], { pushedBy })
    expect(await left(tags)).toEqual(['moved'])
    const got = await askRegistry(world, ana, 'GET', `g/p/raced/manifests/${digest}`)
    expect(got.status).toBe(200)
  })

  test('many are asked to go once an hour, by each repository alone', async () => {
    const one = await tagged('hourly', 'a', 'b')
    const two = await tagged('hourly2', 'a', 'b')
    expect((await ana.delete(`${one}?name_regex_delete=a`)).status).toBe(202)
    const again = await ana.delete(`${one}?name_regex_delete=b`)
    expect([again.status, again.body.message]).toEqual([
      400,
      expect.stringContaining('at most once an hour'),
    ])
    expect((await ana.delete(`${two}?name_regex_delete=a`)).status).toBe(202)
    world.setNow(new Date(Date.parse(world.ctx.now()) + 3_600_000).toISOString())
    expect((await ana.delete(`${one}?name_regex_delete=b`)).status).toBe(202)
    await world.runTasks()
    expect([await left(one), await left(two)]).toEqual([[], ['b']])
  })
})

describe('a tag that goes', () => {
  test('takes along the image that no other tag is at, and no other', async () => {
    world.setNow(START)
    const name = 'g/p/shared'
    const { digest } = await pushImage(world, ana, name, 'one', 'same layer')
    const manifest = await askRegistry(world, ana, 'GET', `${name}/manifests/one`)
    const headers = { 'Content-Type': 'application/vnd.oci.image.manifest.v1+json' }
    const text = JSON.stringify(manifest.body)
    await askRegistry(world, ana, 'PUT', `${name}/manifests/two`, text, headers)
    const tags = `${at}/${await repositoryOf('shared')}/tags`
    const image = async () =>
      (await askRegistry(world, ana, 'GET', `${name}/manifests/${digest}`)).status
    expect((await ana.delete(`${tags}/one`)).status).toBe(200)
    expect([await image(), await left(tags)]).toEqual([200, ['two']])
    expect((await ana.delete(`${tags}/two`)).status).toBe(200)
    expect([await image(), await left(tags)]).toEqual([404, []])
  })

  test('leaves the image that an index names', async () => {
    const name = 'g/p/indexed'
    const type = 'application/vnd.oci.image.index.v1+json'
    const { digest } = await pushImage(world, ana, name, 'one', 'indexed layer')
    const manifests = [{ mediaType: 'application/vnd.oci.image.manifest.v1+json', digest, size: 1 }]
    const index = JSON.stringify({ schemaVersion: 2, mediaType: type, manifests })
    await askRegistry(world, ana, 'PUT', `${name}/manifests/all`, index, { 'Content-Type': type })
    const tags = `${at}/${await repositoryOf('indexed')}/tags`
    await ana.delete(`${tags}/one`)
    const image = async () =>
      (await askRegistry(world, ana, 'GET', `${name}/manifests/${digest}`)).status
    expect(await image()).toBe(200)
    await ana.delete(`${tags}/all`)
    expect(await image()).toBe(404)
  })

  test('goes once of those who delete it at once', async () => {
    const tags = await tagged('once', 'a')
    const remove = () => ana.delete(`${tags}/a`)
    const statuses = (await atOnce(world, [remove, remove])).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 404])
    expect(await left(tags)).toEqual([])
  })
})

describe('a repository that goes', () => {
  test('is shown as scheduled for deletion, read by nobody, and deleted with all that it held', async () => {
    const tags = await tagged('going', 'a', 'b')
    const id = await repositoryOf('going')
    const remove = () => ana.delete(`${at}/${id}`)
    const answers = await atOnce(world, [remove, remove])
    expect(answers.map(({ status }) => status)).toEqual([202, 202])
    expect((await ana.get(`/registry/repositories/${id}`)).body.status).toBe('delete_scheduled')
    for (const [method, path] of [
      ['GET', 'manifests/a'],
      ['GET', 'tags/list'],
      ['DELETE', 'manifests/a'],
    ] as const) {
      expect((await askRegistry(world, ana, method, `g/p/going/${path}`)).status).toBe(404)
    }
    expect((await askRegistry(world, ana, 'POST', 'g/p/going/blobs/uploads/', '')).status).toBe(403)
    expect((await ana.delete(`${at}/${id}`)).status).toBe(202)
    await world.runTasks()
    expect((await ana.get(tags)).status).toBe(404)
    expect((await ana.delete(`${at}/${id}`)).status).toBe(404)
    for (const table of [
      'container_tags',
      'container_manifests',
      'container_blobs',
      'container_uploads',
    ] as const) {
      const rows = await world.ctx.db
        .selectFrom(table)
        .select('repository_id')
        .where('repository_id', '=', id)
        .execute()
      expect([table, rows]).toEqual([table, []])
    }
    const audit = await world.ctx.db
      .selectFrom('audit_events')
      .selectAll()
      .where('action', '=', 'container_repository_deleted')
      .execute()
    expect(audit.map(({ details }) => details)).toEqual([expect.stringContaining('going')])
  })

  test('is answered with 404 when it is deleted', async () => {
    await tagged('vanished', 'a')
    const id = await repositoryOf('vanished')
    const gone = (db: Db) => db.deleteFrom('container_repositories').where('id', '=', id).execute()
    const [answer] = await atOnce(world, [() => ana.delete(`${at}/${id}`)], gone)
    expect(answer?.status).toBe(404)
  })

  test('goes with its project', async () => {
    const made = await ana.post('/projects', { name: 'doomed' })
    await pushImage(world, ana, 'ana/doomed/app', 'v1')
    const [row] = (await ana.get(`/projects/${made.body.id}/registry/repositories`)).body
    await ana.delete(`/projects/${made.body.id}`)
    await world.runTasks()
    expect((await ana.get(`/registry/repositories/${row.id}`)).status).toBe(404)
  })
})
