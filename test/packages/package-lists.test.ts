import { beforeAll, describe, expect, test } from 'vitest'
import type { PackageStatus } from '../../src/store/schema/packages.ts'
import { createGroup, createProject } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'
import { documentOf } from './npm-document.ts'
import { tarballOf } from './tarball.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let at: string
let projectId: number

beforeAll(async () => {
  const group = await createGroup(ana, 'g')
  projectId = (await createProject(ana, 'p', { namespace_id: group.id })).id
  at = `/projects/${projectId}/packages`
})

interface Shown {
  readonly id: number
  readonly name: string
  readonly version: string | null
  readonly package_type: string
  readonly status: string
}

/** Publishes one generic file; gives the package. */
async function publish(name: string, version = '1.0', place = at): Promise<number> {
  const path = `${place}/generic/${name}/${version}/f?select=package_file`
  const sent = await ana.put(path, undefined, { raw: `${name} ${version}` })
  expect(sent.status).toBe(200)
  return sent.body.package_id
}

/** What an upload or its check leaves a package with; clients set only some of these. */
async function setStatus(id: number, status: PackageStatus) {
  await world.ctx.db.updateTable('packages').set({ status }).where('id', '=', id).execute()
}

async function list(query: string, who = ana, path = at): Promise<Shown[]> {
  const reply = await who.get(`${path}?${query}`)
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return reply.body
}

const names = (rows: readonly Shown[]) => rows.map((row) => row.name)

describe('the list of packages', () => {
  const statuses: readonly PackageStatus[] = [
    'default',
    'hidden',
    'processing',
    'error',
    'pending_destruction',
    'deprecated',
  ]

  test('shows what people can use or must know of, and any other status on request', async () => {
    for (const status of statuses) await setStatus(await publish(`status-${status}`), status)
    expect(names(await list('package_name=status-'))).toEqual([
      'status-default',
      'status-error',
      'status-deprecated',
    ])
    for (const status of statuses) {
      const found = await list(`package_name=status-&status=${status}`)
      expect(found.map((row) => [row.name, row.status])).toEqual([[`status-${status}`, status]])
    }
  })

  test('links to the page of a package only where there is one, and to its deletion for those who may', async () => {
    const rows = await list('package_name=status-&order_by=name')
    const links = (who: readonly Shown[]) =>
      who.map((row) => Object.keys((row as unknown as { _links: object })._links))
    expect(links(rows)).toEqual([
      ['web_path', 'delete_api_path'],
      ['web_path', 'delete_api_path'],
      ['delete_api_path'],
    ])
    const developer = await world.user('links-developer')
    await addMember(world, projectId, developer.id, 30)
    expect(links(await list('package_name=status-&order_by=name', developer))).toEqual([
      ['web_path'],
      ['web_path'],
      [],
    ])
  })

  test('leaves out metadata of all versions, and Terraform modules, unless they are asked for', async () => {
    const maven = `${at}/maven/com/acme/listed`
    await ana.put(`${maven}/1.0/listed-1.0.jar`, undefined, { raw: 'x' })
    await ana.put(`${maven}/maven-metadata.xml`, undefined, {
      raw: '<metadata/>',
    })
    const archive = await tarballOf({ 'main.tf': '' })
    const module = `${at}/terraform/modules/listed/local/1.0.0/file`
    expect((await ana.put(module, undefined, { raw: archive })).status).toBe(201)
    const shown = async (query: string) =>
      (await list(`package_name=listed&${query}`)).map((row) => [row.package_type, row.version])
    expect(await shown('')).toEqual([['maven', '1.0']])
    expect(await shown('include_versionless=true')).toEqual([
      ['maven', '1.0'],
      ['maven', null],
    ])
    expect(await shown('include_versionless=true&package_version=1.0')).toEqual([['maven', '1.0']])
    expect(await shown('package_type=terraform_module')).toEqual([['terraform_module', '1.0.0']])
    expect(await shown('package_type=terraform_module&package_version=1')).toEqual([])
    const inGroup = await list(
      'package_name=listed&include_versionless=true',
      ana,
      '/groups/g/packages',
    )
    expect(inGroup.map((row) => row.version)).toEqual(['1.0', null])
  })

  test('is ordered by each of its keys, both ways, the older of two equal ones first', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    await publish('order-b', '1.0')
    await ana.put(`${at}/npm/order-c`, await documentOf('order-c', '3.0.0'))
    world.setNow('2026-05-04T10:00:05.000Z')
    await publish('order-a', '2.0')
    world.setNow('2026-05-04T10:00:00.000Z')
    await publish('order-d', '2.0')
    const order = async (query: string) =>
      names(await list(`package_name=order-&${query}`))
        .map((name) => name.slice('order-'.length))
        .join('')
    expect(await order('')).toBe('bcda')
    expect(await order('sort=desc')).toBe('adcb')
    expect(await order('order_by=created_at&sort=asc')).toBe('bcda')
    expect(await order('order_by=name')).toBe('abcd')
    expect(await order('order_by=name&sort=desc')).toBe('dcba')
    expect(await order('order_by=version')).toBe('badc')
    expect(await order('order_by=version&sort=desc')).toBe('cdab')
    expect(await order('order_by=type')).toBe('badc')
    expect(await order('order_by=type&sort=desc')).toBe('cdab')
  })

  test('takes wildcards of a search and case as they are meant', async () => {
    for (const name of ['Search_one', 'searchXone', 'search.two']) await publish(name)
    expect(names(await list('package_name=search_'))).toEqual(['Search_one'])
    expect(names(await list('package_name=SEARCHX'))).toEqual(['searchXone'])
    expect(names(await list('package_name=%25earch'))).toEqual([])
    expect(names(await list('package_name=earch.t'))).toEqual(['search.two'])
    expect(names(await list('package_name=search&package_version=1'))).toEqual([])
  })

  test('refuses values that are none, one by one and together', async () => {
    const refused = async (query: string, path = at) => (await ana.get(`${path}?${query}`)).body
    const no = 'does not have a valid value'
    expect(await refused('order_by=size')).toEqual({ error: `order_by ${no}` })
    expect(await refused('order_by=project_path')).toEqual({
      error: `order_by ${no}`,
    })
    expect(await refused('sort=DESC')).toEqual({ error: `sort ${no}` })
    expect(await refused('status=gone')).toEqual({ error: `status ${no}` })
    expect(await refused('package_type=rubygems')).toEqual({
      error: `package_type ${no}`,
    })
    expect(await refused('include_versionless=maybe')).toEqual({
      error: 'include_versionless is invalid',
    })
    expect(await refused('package_type=x&status=y')).toEqual({
      error: `package_type ${no}, status ${no}`,
    })
    expect(await refused('exclude_subgroups=2', '/groups/g/packages')).toEqual({
      error: 'exclude_subgroups is invalid',
    })
  })

  test('comes in pages whose links repeat what was asked for', async () => {
    for (const name of ['page-1', 'page-2', 'page-3']) await publish(name)
    const first = await ana.get(`${at}?package_name=page-&order_by=name&per_page=2`)
    expect(names(first.body)).toEqual(['page-1', 'page-2'])
    const headers = [
      'x-page',
      'x-per-page',
      'x-next-page',
      'x-prev-page',
      'x-total',
      'x-total-pages',
    ]
    expect(headers.map((name) => first.headers.get(name))).toEqual(['1', '2', '2', '', '3', '2'])
    const link = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    expect(new URL(link).searchParams.get('package_name')).toBe('page-')
    const next = await ana.get(link.slice(link.indexOf('/api/v4') + '/api/v4'.length))
    expect(names(next.body)).toEqual(['page-3'])
    expect(headers.map((name) => next.headers.get(name))).toEqual(['2', '2', '', '1', '3', '2'])
  })
})

describe('the list of a group', () => {
  let sub: number
  let secret: number

  beforeAll(async () => {
    const top = (await ana.get('/groups/g')).body.id
    sub = (await createGroup(ana, 's', { parent_id: top })).id
    const below = await ana.post('/projects', { name: 'q', namespace_id: sub })
    secret = (await createProject(ana, 'secret', { namespace_id: sub })).id
    await publish('in-group', '1', `/projects/${below.body.id}/packages`)
    await publish('in-group', '2', `/projects/${secret}/packages`)
    await publish('in-group', '3')
  })

  test('says of which project each package is, and can leave subgroups out', async () => {
    const asked = '/groups/g/packages?package_name=in-group'
    const { body } = await ana.get(`${asked}&order_by=project_path`)
    expect(body.map((row: { project_path: string }) => row.project_path)).toEqual([
      'g/p',
      'g/s/q',
      'g/s/secret',
    ])
    expect(body[2].project_id).toBe(secret)
    const own = await ana.get(`${asked}&exclude_subgroups=true`)
    expect(own.body.map((row: { project_id: number }) => row.project_id)).toEqual([projectId])
    const ofSub = await ana.get(`/groups/${sub}/packages?package_name=in-group&sort=desc`)
    expect(ofSub.body.map((row: Shown) => row.version)).toEqual(['2', '1'])
  })

  test('holds only what its caller may read, and counts no more', async () => {
    const open = { name: 'open', path: 'open-group', visibility: 'public' }
    const namespace_id = (await ana.post('/groups', open)).body.id
    const ids: number[] = []
    for (const [index, visibility] of ['public', 'private', 'public'].entries()) {
      const project = { name: `p${index}`, namespace_id, visibility }
      ids.push((await ana.post('/projects', project)).body.id)
      await publish('seen', `${index}`, `/projects/${ids[index]}/packages`)
    }
    const seenBy = async (who: Caller) => {
      const reply = await who.get('/groups/open-group/packages')
      return [reply.body.map((row: Shown) => row.version), reply.headers.get('x-total')]
    }
    const stranger = await world.user('stranger')
    expect(await seenBy(ana)).toEqual([['0', '1', '2'], '3'])
    expect(await seenBy(stranger)).toEqual([['0', '2'], '2'])
    expect(await seenBy(world.nobody)).toEqual([['0', '2'], '2'])
    await ana.put(`/projects/${ids[2]}`, {
      package_registry_access_level: 'private',
    })
    expect(await seenBy(world.nobody)).toEqual([['0'], '1'])
    await ana.put(`/projects/${ids[0]}`, {
      package_registry_access_level: 'disabled',
    })
    expect(await seenBy(ana)).toEqual([['1', '2'], '2'])
  })

  test('forgets a project with its deletion', async () => {
    expect((await ana.delete(`/projects/${secret}`)).status).toBe(202)
    const { body } = await ana.get('/groups/g/packages?package_name=in-group')
    expect(body.map((row: Shown) => row.version)).toEqual(['1', '3'])
  })
})

describe('one package', () => {
  test('is not shown while it is hidden, being checked, faulty or going', async () => {
    const id = await publish('one-status')
    for (const status of ['hidden', 'processing', 'error', 'pending_destruction'] as const) {
      await setStatus(id, status)
      const reply = await ana.get(`${at}/${id}`)
      expect([reply.status, reply.body]).toEqual([404, { message: '404 Package Not Found' }])
    }
    await setStatus(id, 'deprecated')
    expect((await ana.get(`${at}/${id}`)).body.status).toBe('deprecated')
  })

  test('names the other versions of its own name and format that can be used', async () => {
    const id = await publish('one', '1.0')
    const second = await publish('one', '2.0')
    await setStatus(await publish('one', '3.0'), 'hidden')
    await publish('one-more', '1.0')
    await ana.put(`${at}/npm/one`, await documentOf('one', '4.0.0', { tag: 'beta' }))
    const now = world.ctx.now()
    expect((await ana.get(`${at}/${id}`)).body.versions).toEqual([
      { id: second, version: '2.0', created_at: now, tags: [], pipelines: [] },
    ])
    const [npm] = await list('package_name=one&package_type=npm')
    expect(npm).toMatchObject({
      tags: [{ name: 'beta', package_id: npm?.id }],
    })
  })

  test('is found in its own project alone', async () => {
    const id = await publish('own')
    const other = (await createProject(ana, 'elsewhere')).id
    for (const path of [String(id), `${id}/package_files`, `${id}/pipelines`]) {
      const reply = await ana.get(`/projects/${other}/packages/${path}`)
      expect([path, reply.status]).toEqual([path, 404])
    }
    expect((await ana.delete(`/projects/${other}/packages/${id}`)).status).toBe(404)
    expect((await ana.get(`${at}/${id}`)).status).toBe(200)
  })

  test('shows no pipelines to those who may not see them', async () => {
    const open = await ana.post('/projects', {
      name: 'open',
      visibility: 'public',
      public_jobs: false,
    })
    const place = `/projects/${open.body.id}/packages`
    const id = await publish('open', '1', place)
    expect((await ana.get(`${place}/${id}`)).body.pipelines).toEqual([])
    expect(await world.nobody.get(`${place}/${id}`)).not.toHaveProperty('body.pipelines')
    const [file] = (await world.nobody.get(`${place}/${id}/package_files`)).body
    expect(file).not.toHaveProperty('pipelines')
    expect((await world.nobody.get(`${place}/${id}/pipelines`)).status).toBe(403)
  })

  test('that was changed since its caller looked is not deleted, and neither are its files', async () => {
    world.setNow('2026-05-04T11:00:00.000Z')
    const id = await publish('changed')
    const [file] = (await ana.get(`${at}/${id}/package_files`)).body
    const before = {
      headers: { 'If-Unmodified-Since': 'Mon, 04 May 2026 10:59:59 GMT' },
    }
    const after = {
      headers: { 'If-Unmodified-Since': 'Mon, 04 May 2026 11:00:00 GMT' },
    }
    for (const path of [`${at}/${id}`, `${at}/${id}/package_files/${file.id}`]) {
      const reply = await ana.delete(path, undefined, before)
      expect([reply.status, reply.body]).toEqual([412, { message: '412 Precondition Failed' }])
    }
    expect((await ana.get(`${at}/generic/changed/1.0/f`)).body).toBe('changed 1.0')
    const path = `${at}/${id}/package_files/${file.id}`
    expect((await ana.delete(path, undefined, after)).status).toBe(204)
    expect((await ana.delete(`${at}/${id}`, undefined, after)).status).toBe(204)
    world.setNow('2026-05-04T10:00:00.000Z')
  })
})

describe('the pipelines of a package', () => {
  /** Pipelines of these numbers that published a package. */
  async function build(id: number, iids: readonly number[]): Promise<number[]> {
    const { db, now } = world.ctx
    const common = {
      project_id: projectId,
      sha: 'a'.repeat(40),
      ref: 'main',
      source: 'push',
    }
    const times = { created_at: now(), updated_at: now() }
    const rows = iids.map((iid) => ({
      ...common,
      ...times,
      iid,
      status: 'success' as const,
      user_id: ana.id,
    }))
    const made = await db.insertInto('pipelines').values(rows).returning('id').execute()
    const links = made.map((one) => ({ package_id: id, pipeline_id: one.id }))
    await db.insertInto('package_pipelines').values(links).execute()
    return made.map((one) => one.id)
  }

  test('come newest first, in pages by a cursor, and the last one stands for all', async () => {
    const id = await publish('built')
    const ids = (await build(id, [1, 2, 3, 4, 5])).reverse()
    const seen: number[] = []
    let path: string | undefined = `${at}/${id}/pipelines?per_page=2`
    while (path !== undefined) {
      const page: Awaited<ReturnType<Caller['get']>> = await ana.get(path)
      expect(page.headers.get('x-total')).toBeNull()
      seen.push(...page.body.map((one: { id: number }) => one.id))
      const link = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1]
      path = link?.slice(link.indexOf('/api/v4') + '/api/v4'.length)
    }
    expect(seen).toEqual(ids)
    const shown = (await ana.get(`${at}/${id}`)).body
    expect(shown.pipeline.id).toBe(ids[0])
    expect(shown.pipelines.map((one: { id: number }) => one.id)).toEqual([...ids].reverse())
    expect((await ana.get(`${at}/${id}/pipelines?cursor=nothing`)).status).toBe(400)
    for (const size of ['0', '21', 'x']) {
      expect((await ana.get(`${at}/${id}/pipelines?per_page=${size}`)).status).toBe(400)
    }
  })

  test('come by their own ids, also where an older one published after a newer', async () => {
    const id = await publish('rolled-back')
    const [older, newer] = await build(await publish('elsewhere'), [11, 12])
    const links = [newer, older].map((one) => ({ package_id: id, pipeline_id: one ?? 0 }))
    await world.ctx.db.insertInto('package_pipelines').values(links).execute()
    const idsAt = async (query: string) => {
      const { body, headers } = await ana.get(`${at}/${id}/pipelines${query}`)
      return { ids: body.map((one: { id: number }) => one.id), link: headers.get('link') }
    }
    expect((await idsAt('')).ids).toEqual([newer, older])
    const { ids, link } = await idsAt('?per_page=1')
    const next = /cursor=([^&>]+)/.exec(link ?? '')?.[1]
    expect([...ids, ...(await idsAt(`?per_page=1&cursor=${next}`)).ids]).toEqual([newer, older])
  })

  test('of a package that thousands published leave room for those of others', async () => {
    const [busy, quiet] = [await publish('busy'), await publish('quiet')]
    const made: number[] = []
    for (let first = 100; first < 2200; first += 700) {
      made.push(
        ...(await build(
          busy,
          Array.from({ length: 700 }, (_, index) => first + index),
        )),
      )
    }
    const last = await build(quiet, [9999])
    const shown = await ana.get(`${at}?package_name=u&order_by=name`)
    const of = (id: number) => shown.body.find((row: Shown) => row.id === id)
    expect(of(busy).pipeline.id).toBe(made.at(-1))
    expect(of(quiet).pipelines.map((one: { id: number }) => one.id)).toEqual(last)
  })
})

describe('files', () => {
  test('are listed by each key, both ways, with what they are', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    const put = (file: string) =>
      ana.put(`${at}/generic/sorted/1/${file}?select=package_file`, undefined, {
        raw: file,
      })
    const { package_id: id } = (await put('b')).body
    await put('dir/c')
    world.setNow('2026-05-04T09:00:00.000Z')
    await put('a')
    world.setNow('2026-05-04T10:00:00.000Z')
    const order = async (query: string) =>
      (await ana.get(`${at}/${id}/package_files?${query}`)).body
        .map((one: { file_name: string }) => one.file_name)
        .join(' ')
    expect(await order('')).toBe('b dir%2Fc a')
    expect(await order('sort=desc')).toBe('a dir%2Fc b')
    expect(await order('order_by=file_name')).toBe('a b dir%2Fc')
    expect(await order('order_by=created_at')).toBe('a b dir%2Fc')
    expect(await order('order_by=created_at&sort=desc')).toBe('dir%2Fc b a')
    const wrong = await ana.get(`${at}/${id}/package_files?order_by=size`)
    expect(wrong.body).toEqual({
      error: 'order_by does not have a valid value',
    })
    const page = await ana.get(`${at}/${id}/package_files?per_page=2&page=2`)
    expect([page.body.length, page.headers.get('x-total')]).toEqual([1, '3'])
    expect(page.body[0]).toEqual({
      id: expect.any(Number),
      package_id: id,
      created_at: '2026-05-04T09:00:00.000Z',
      file_name: 'a',
      size: 1,
      file_md5: '0cc175b9c0f1b6a831c399e269772661',
      file_sha1: '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8',
      file_sha256: 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
      pipelines: [],
    })
  })

  test('that were deleted uncover the one before, and leave the package', async () => {
    const path = `${at}/generic/layers/1/f`
    await ana.put(path, undefined, { raw: 'old' })
    const newer = await ana.put(`${path}?select=package_file`, undefined, {
      raw: 'new',
    })
    expect((await ana.get(path)).body).toBe('new')
    const files = `${at}/${newer.body.package_id}/package_files`
    const developer = await world.user('file-developer')
    await addMember(world, projectId, developer.id, 30)
    expect((await developer.delete(`${files}/${newer.body.id}`)).status).toBe(403)
    expect((await ana.delete(`${files}/${newer.body.id}`)).status).toBe(204)
    expect((await ana.get(path)).body).toBe('old')
    const [last] = (await ana.get(files)).body
    expect((await ana.delete(`${files}/${last.id}`)).status).toBe(204)
    expect((await ana.get(path)).status).toBe(404)
    expect((await ana.get(`${at}/${newer.body.package_id}`)).status).toBe(200)
    expect((await ana.get(files)).body).toEqual([])
    const gone = await ana.delete(`${files}/${last.id}`)
    expect([gone.status, gone.body]).toEqual([404, { message: '404 Package file Not Found' }])
  })
})

test('an upload that says a status gives it to the package, new or not', async () => {
  const path = `${at}/generic/status-of/1/f`
  const shown = async () => names(await list('package_name=status-of'))
  const put = (query: string) => ana.put(path + query, undefined, { raw: 'x' })
  expect((await put('?status=hidden')).body).toEqual({
    message: '201 Created',
  })
  expect(await shown()).toEqual([])
  expect((await put('')).status).toBe(201)
  expect(await shown()).toEqual([])
  expect((await put('?status=default')).status).toBe(201)
  expect(await shown()).toEqual(['status-of'])
  expect((await put('?status=hidden')).status).toBe(201)
  expect(await shown()).toEqual([])
  expect((await ana.get(path)).body).toBe('x')
  const wrong = await put('?status=deprecated')
  expect([wrong.status, wrong.body]).toEqual([400, { error: 'status does not have a valid value' }])
})
