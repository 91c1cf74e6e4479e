import { beforeAll, describe, expect, test } from 'vitest'
import { runCleanupPolicies } from '../../src/packages/cleanup/run.ts'
import { atOnce } from '../support/at-once.ts'
import { createGroup } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../support/world.ts'
import { documentOf } from './npm-document.ts'
import { tarballOf } from './tarball.ts'
import { zipOf } from './zip-file.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
const maintainer = useCaller(world, 'maintainer')
const developer = useCaller(world, 'developer')
let topId: number
let subId: number

beforeAll(async () => {
  topId = (await createGroup(ana, 'top')).id
  const sub = { name: 'sub', path: 'sub', parent_id: topId }
  subId = (await ana.post('/groups', sub)).body.id
})

/** A project of the subgroup, with a maintainer and a developer; gives the path of its packages. */
async function newProject(name: string): Promise<string> {
  const { id } = (await ana.post('/projects', { name, namespace_id: subId })).body
  await addMember(world, id, maintainer.id, 40)
  await addMember(world, id, developer.id, 30)
  return `/projects/${id}/packages`
}

function formOf(fields: Readonly<Record<string, string | Buffer<ArrayBuffer>>>, fileName: string) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.set(name, value)
    else form.set(name, new Blob([value]), fileName)
  }
  return form
}

type Publish = (who: Caller, at: string, version?: string) => Promise<Reply>

/** How a package called `tool` (or as the format has it) is published in each format. */
const publishing: Readonly<Record<string, Publish>> = {
  generic: (who, at, version = '1.0.0') =>
    who.put(`${at}/generic/tool/${version}/f`, undefined, { raw: 'x' }),
  npm: async (who, at, version = '1.0.0') =>
    who.put(`${at}/npm/tool`, await documentOf('tool', version)),
  maven: (who, at, version = '1.0.0') =>
    who.put(`${at}/maven/com/acme/tool/${version}/tool-${version}.jar`, undefined, { raw: 'x' }),
  pypi: (who, at, version = '1.0.0') =>
    who.post(`${at}/pypi`, undefined, {
      raw: formOf(
        { name: 'tool', version, content: Buffer.from(`bytes ${version}`) },
        `tool-${version}.tar.gz`,
      ),
    }),
  nuget: async (who, at, version = '1.0.0') => {
    const nuspec = `<package><metadata><id>tool</id><version>${version}</version><authors>a</authors><description>d</description></metadata></package>`
    const raw = formOf({ package: await zipOf({ 'tool.nuspec': nuspec }) }, 'package.nupkg')
    return who.put(`${at}/nuget`, undefined, { raw })
  },
  helm: async (who, at, version = '1.0.0') => {
    const chart = await tarballOf({
      'tool/Chart.yaml': `apiVersion: v2\nname: tool\nversion: ${version}\n`,
    })
    const raw = formOf({ chart }, 'tool.tgz')
    return who.post(`${at}/helm/api/stable/charts`, undefined, { raw })
  },
  conan: (who, at, version = '1.0.0') => {
    const files = `${at}/conan/v2/conans/tool/${version}/_/_/revisions/${'a'.repeat(32)}/files`
    return who.put(`${files}/conanmanifest.txt`, undefined, { raw: 'x' })
  },
  terraform_module: async (who, at, version = '1.0.0') =>
    who.put(`${at}/terraform/modules/tool/local/${version}/file`, undefined, {
      raw: await tarballOf({ 'main.tf': '' }),
    }),
}

const nameIn: Readonly<Record<string, string>> = {
  maven: 'com/acme/tool',
  conan: 'tool/1.0.0@_/_',
}

describe('a protection rule', () => {
  const protectable = ['generic', 'npm', 'maven', 'pypi', 'nuget', 'helm', 'conan']

  test.each(protectable)('keeps publishing and deleting of %s to its levels', async (type) => {
    const at = await newProject(`protected-${type}`)
    const publish = publishing[type] as Publish
    const rules = `${at}/protection/rules`
    const rule = {
      package_name_pattern: `${(nameIn[type] ?? 'tool').slice(0, 3).toUpperCase()}*`,
      package_type: type,
      minimum_access_level_for_push: 'maintainer',
      minimum_access_level_for_delete: 'owner',
    }
    const made = await maintainer.post(rules, rule)
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    expect(made.body).toEqual({
      id: expect.any(Number),
      project_id: Number(at.split('/')[2]),
      ...rule,
    })
    const refused = await publish(developer, at)
    expect([refused.status, refused.body.message ?? refused.body]).toEqual([
      403,
      'Package protected.',
    ])
    expect((await publish(maintainer, at)).status).toBeLessThan(300)
    const [row] = (await ana.get(at)).body
    expect(row.name).toBe(nameIn[type] ?? 'tool')
    const [file] = (await ana.get(`${at}/${row.id}/package_files`)).body
    const message = '403 Forbidden - Package is deletion protected.'
    for (const path of [`${at}/${row.id}`, `${at}/${row.id}/package_files/${file.id}`]) {
      const kept = await maintainer.delete(path)
      expect([kept.status, kept.body]).toEqual([403, { message }])
    }
    expect((await ana.delete(`${at}/${row.id}/package_files/${file.id}`)).status).toBe(204)
    expect((await ana.delete(`${at}/${row.id}`)).status).toBe(204)
    expect((await maintainer.delete(`${rules}/${made.body.id}`)).status).toBe(204)
    expect((await publish(developer, at, '2.0.0')).status).toBeLessThan(300)
  })

  test('does what its last change says, and one that matches nothing does nothing', async () => {
    const at = await newProject('changing')
    const publish = publishing.generic as Publish
    const rules = `${at}/protection/rules`
    const given = {
      package_name_pattern: 'tool',
      package_type: 'generic',
      minimum_access_level_for_push: 'maintainer',
    }
    const { id } = (await maintainer.post(rules, given)).body
    const change = (values: object) => maintainer.patch(`${rules}/${id}`, values)
    const may = async (who: Caller) => (await publish(who, at)).status
    expect(await may(developer)).toBe(403)
    expect((await change({ package_name_pattern: 'too' })).status).toBe(200)
    expect(await may(developer)).toBe(201)
    await change({ package_name_pattern: '*oo*' })
    expect(await may(developer)).toBe(403)
    await change({ package_type: 'npm' })
    expect(await may(developer)).toBe(201)
    const owners = {
      package_type: 'generic',
      minimum_access_level_for_push: 'owner',
    }
    expect((await change(owners)).body).toMatchObject(owners)
    expect([await may(maintainer), await may(ana)]).toEqual([403, 201])
    await change({ minimum_access_level_for_push: 'admin' })
    expect([await may(ana), await may(world.root)]).toEqual([403, 201])
    const open = {
      minimum_access_level_for_push: null,
      minimum_access_level_for_delete: 'admin',
    }
    expect((await change(open)).body).toMatchObject(open)
    expect(await may(developer)).toBe(201)
    const [row] = (await ana.get(at)).body
    expect((await ana.delete(`${at}/${row.id}`)).status).toBe(403)
    expect((await world.root.delete(`${at}/${row.id}`)).status).toBe(204)
  })

  test('means a package of Python by any of its names', async () => {
    const at = await newProject('names')
    const rule = { package_type: 'pypi', minimum_access_level_for_push: 'maintainer' }
    await maintainer.post(`${at}/protection/rules`, { ...rule, package_name_pattern: 'My_Tool' })
    await maintainer.post(`${at}/protection/rules`, { ...rule, package_name_pattern: 'in.house-*' })
    const upload = async (name: string, file: string) => {
      const raw = formOf({ name, version: '1.0', content: Buffer.from(name) }, file)
      return (await developer.post(`${at}/pypi`, undefined, { raw })).status
    }
    expect(await upload('my_tool', 'my_tool-1.0.tar.gz')).toBe(403)
    expect(await upload('my.tool', 'my.tool-1.0.tar.gz')).toBe(403)
    expect(await upload('In_House_X', 'in_house_x-1.0.tar.gz')).toBe(403)
    expect(await upload('mytool', 'mytool-1.0.tar.gz')).toBe(201)
  })

  test('means a recipe of Conan by its name, as clients print it, and whole', async () => {
    const at = await newProject('recipes')
    const rule = { package_type: 'conan', minimum_access_level_for_push: 'maintainer' }
    for (const package_name_pattern of ['Hello', 'tool/1.0', 'lib/1.0@org/*']) {
      const made = await maintainer.post(`${at}/protection/rules`, {
        ...rule,
        package_name_pattern,
      })
      expect(made.status).toBe(201)
    }
    const upload = async (recipe: string) => {
      const path = `${at}/conan/v2/conans/${recipe}/revisions/${'a'.repeat(32)}/files/conanfile.py`
      return (await developer.put(path, undefined, { raw: 'x' })).status
    }
    for (const recipe of [
      'hello/0.1/_/_',
      'hello/0.2/org/beta',
      'tool/1.0/_/_',
      'lib/1.0/org/beta',
    ])
      expect([recipe, await upload(recipe)]).toEqual([recipe, 403])
    for (const recipe of ['hello2/0.1/_/_', 'tool/1.0/org/beta', 'lib/1.0/_/_'])
      expect([recipe, await upload(recipe)]).toEqual([recipe, 200])
  })

  test('keeps tags and notes of age of npm as it keeps publishing', async () => {
    const at = await newProject('tagged')
    const publish = publishing.npm as Publish
    expect((await publish(developer, at)).status).toBe(200)
    await maintainer.post(`${at}/protection/rules`, {
      package_name_pattern: 'tool',
      package_type: 'npm',
      minimum_access_level_for_push: 'owner',
    })
    const tag = `${at}/npm/-/package/tool/dist-tags/next`
    const deprecate = (who: Caller) =>
      who.put(
        `${at}/npm/tool`,
        { versions: { '1.0.0': { deprecated: 'old' } } },
        { headers: { 'npm-command': 'deprecate' } },
      )
    const message = 'Package protected.'
    for (const reply of [
      await developer.put(tag, '1.0.0'),
      await maintainer.delete(tag.replace('next', 'latest')),
      await deprecate(maintainer),
    ]) {
      expect([reply.status, reply.body.message ?? reply.body.error]).toEqual([403, message])
    }
    const { body } = await ana.get(`${at}/npm/tool`)
    expect(body['dist-tags']).toEqual({ latest: '1.0.0' })
    expect(body.versions['1.0.0'].deprecated).toBeUndefined()
    expect((await ana.put(tag, '1.0.0')).status).toBe(204)
    expect((await deprecate(ana)).status).toBe(200)
  })

  test('is counted with the others: any one that matches protects', async () => {
    const at = await newProject('several')
    const rules = `${at}/protection/rules`
    const rule = {
      package_type: 'generic',
      minimum_access_level_for_push: 'owner',
    }
    await maintainer.post(rules, { ...rule, package_name_pattern: 'other' })
    await maintainer.post(rules, { ...rule, package_name_pattern: 't*' })
    const lax = { ...rule, minimum_access_level_for_push: 'maintainer' }
    const third = await maintainer.post(rules, {
      ...lax,
      package_name_pattern: 'tool',
    })
    expect((await (publishing.generic as Publish)(maintainer, at)).status).toBe(403)
    const page = await maintainer.get(`${rules}?per_page=2&page=2`)
    expect([page.body, page.headers.get('x-total')]).toEqual([[third.body], '3'])
  })

  test('refuses what is none', async () => {
    const at = await newProject('refusing')
    const rules = `${at}/protection/rules`
    const good = {
      package_name_pattern: 'x',
      package_type: 'npm',
      minimum_access_level_for_push: 'owner',
    }
    const sent = async (values: object) => {
      const { status, body } = await maintainer.post(rules, {
        ...good,
        ...values,
      })
      return [status, body]
    }
    const no = 'does not have a valid value'
    const wrong = (error: string) => [400, { error }]
    expect(await sent({ package_name_pattern: null, package_type: null })).toEqual(
      wrong('package_name_pattern is missing, package_type is missing'),
    )
    expect(await sent({ package_name_pattern: ' ' })).toEqual(
      wrong('package_name_pattern is empty'),
    )
    expect(await sent({ package_name_pattern: 'x'.repeat(256) })).toEqual(
      wrong('package_name_pattern is too long (maximum is 255 characters)'),
    )
    expect(await sent({ package_type: 'golang' })).toEqual(wrong(`package_type ${no}`))
    expect(await sent({ minimum_access_level_for_push: 'developer' })).toEqual(
      wrong(`minimum_access_level_for_push ${no}`),
    )
    expect(await sent({ minimum_access_level_for_delete: 'maintainer' })).toEqual(
      wrong(`minimum_access_level_for_delete ${no}`),
    )
    const none = await sent({ minimum_access_level_for_push: null })
    expect(none).toEqual([422, { message: { error: expect.stringMatching(/at least/) } }])
    const first = await maintainer.post(rules, good)
    const other = await maintainer.post(rules, {
      ...good,
      package_name_pattern: 'y',
    })
    const taken = [422, { message: { error: expect.stringMatching(/already been taken/) } }]
    expect(await sent({})).toEqual(taken)
    const path = `${rules}/${other.body.id}`
    const moved = await maintainer.patch(path, { package_name_pattern: 'x' })
    expect([moved.status, moved.body]).toEqual(taken)
    const emptied = await maintainer.patch(path, {
      minimum_access_level_for_push: null,
    })
    expect(emptied.status).toBe(422)
    expect((await maintainer.get(rules)).body).toEqual([first.body, other.body])
    const elsewhere = `${await newProject('refusing-too')}/protection/rules/${other.body.id}`
    expect((await maintainer.delete(elsewhere)).status).toBe(404)
    for (const method of ['GET', 'POST'])
      expect(
        (await developer.call(method, rules, method === 'POST' ? good : undefined)).status,
      ).toBe(403)
    const stale = {
      headers: { 'If-Unmodified-Since': 'Mon, 04 May 2026 09:00:00 GMT' },
    }
    expect((await maintainer.delete(path, undefined, stale)).status).toBe(412)
    expect((await maintainer.delete(path)).status).toBe(204)
    expect((await maintainer.delete(path)).status).toBe(404)
  })
})

test('the rules and the policy of an archived project are read, and changed by nobody', async () => {
  const at = await newProject('archived')
  const [rules, policy] = [`${at}/protection/rules`, `${at}/cleanup/policy`]
  const rule = { package_type: 'npm', minimum_access_level_for_push: 'owner' }
  const made = await maintainer.post(rules, { ...rule, package_name_pattern: 'x' })
  await ana.post(`${at.replace('/packages', '')}/archive`)
  expect((await maintainer.get(rules)).body).toEqual([made.body])
  expect((await maintainer.get(policy)).status).toBe(200)
  for (const reply of [
    await maintainer.post(rules, { ...rule, package_name_pattern: 'y' }),
    await maintainer.patch(`${rules}/${made.body.id}`, { package_name_pattern: 'y' }),
    await maintainer.delete(`${rules}/${made.body.id}`),
    await maintainer.put(policy, { keep_n_duplicated_package_files: '1' }),
  ]) {
    expect(reply.status).toBe(403)
  }
})

describe('the package settings of a group', () => {
  const settingsOf = (id: number) => `/groups/${id}/packages/settings`
  const defaults = {
    maven_duplicates_allowed: true,
    maven_duplicate_exception_regex: '',
    generic_duplicates_allowed: true,
    generic_duplicate_exception_regex: '',
    nuget_duplicates_allowed: true,
    nuget_duplicate_exception_regex: '',
    terraform_module_duplicates_allowed: false,
    terraform_module_duplicate_exception_regex: '',
    nuget_symbol_server_enabled: false,
    npm_package_requests_forwarding: null,
    lock_npm_package_requests_forwarding: false,
    pypi_package_requests_forwarding: null,
    lock_pypi_package_requests_forwarding: false,
    maven_package_requests_forwarding: null,
    lock_maven_package_requests_forwarding: false,
  }

  test('begin with defaults, change one by one, and are the owners’ alone', async () => {
    const { id } = await createGroup(ana, 'set')
    const path = settingsOf(id)
    expect((await ana.get(path)).body).toEqual(defaults)
    const one = {
      maven_duplicates_allowed: 'false',
      npm_package_requests_forwarding: true,
    }
    const changed = { ...defaults, maven_duplicates_allowed: false }
    expect((await ana.put(path, one)).body).toEqual({
      ...changed,
      npm_package_requests_forwarding: true,
    })
    const back = { npm_package_requests_forwarding: null }
    expect((await ana.put(path, back)).body).toEqual(changed)
    await ana.post(`/groups/${id}/members`, {
      user_id: maintainer.id,
      access_level: 40,
    })
    const refused = await maintainer.put(path, one)
    expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
    expect((await maintainer.get(path)).status).toBe(403)
    expect((await developer.get(path)).status).toBe(404)
    expect((await world.nobody.get(path)).status).toBe(401)
    const wrong = async (values: object) => (await ana.put(path, values)).body
    expect(await wrong({ nuget_duplicates_allowed: 'perhaps' })).toEqual({
      error: 'nuget_duplicates_allowed is invalid',
    })
    expect(await wrong({ nuget_duplicate_exception_regex: '(' })).toEqual({
      message: { nuget_duplicate_exception_regex: ['is invalid'] },
    })
    expect(await wrong({ nuget_duplicate_exception_regex: 'x'.repeat(256) })).toEqual({
      error: 'nuget_duplicate_exception_regex is too long (maximum is 255 characters)',
    })
    expect((await ana.get(path)).body).toEqual(changed)
  })

  const repeated: readonly (readonly [string, number, string])[] = [
    ['generic', 400, '400 Bad request - Duplicate package is not allowed'],
    ['maven', 400, '400 Bad request - Duplicate package is not allowed'],
    ['nuget', 409, 'A package with the same name and version already exists'],
  ]

  test.each(repeated)(
    'say whether a version of %s is published twice',
    async (type, status, text) => {
      const at = await newProject(`twice-${type}`)
      const publish = publishing[type] as Publish
      const set = (allowed: boolean, regex: string, group = subId) =>
        ana.put(settingsOf(group), {
          [`${type}_duplicates_allowed`]: allowed,
          [`${type}_duplicate_exception_regex`]: regex,
        })
      const again = async (version = '1.0.0') => (await publish(ana, at, version)).status < 300
      expect([await again(), await again()]).toEqual([true, true])
      await set(false, '')
      const refused = await publish(ana, at)
      expect([refused.status, refused.body.message]).toEqual([status, text])
      await set(false, '.*ool')
      expect(await again()).toBe(true)
      await set(false, '1\\.0')
      expect(await again()).toBe(false)
      await set(false, '1\\.0\\..')
      expect(await again()).toBe(true)
      expect([await again('2.0.0'), await again('2.0.0')]).toEqual([true, false])
      await set(true, '1\\..*')
      expect([await again('1.0.0'), await again('2.0.0')]).toEqual([false, true])
      await set(true, '')
      await set(false, '', topId)
      expect(await again()).toBe(true)
      await set(true, '', topId)
    },
  )

  test('of any group above let a module of Terraform be in two projects', async () => {
    const publish = publishing.terraform_module as Publish
    const [one, two] = [await newProject('tf-one'), await newProject('tf-two')]
    expect((await publish(ana, one)).status).toBe(201)
    const set = (id: number, allowed: boolean, regex = '') =>
      ana.put(settingsOf(id), {
        terraform_module_duplicates_allowed: allowed,
        terraform_module_duplicate_exception_regex: regex,
      })
    expect((await publish(ana, two)).status).toBe(403)
    await set(topId, false, 'tool/.*')
    expect((await publish(ana, two)).status).toBe(201)
    await set(topId, true, 'tool/.*')
    expect((await publish(ana, two, '2.0.0')).status).toBe(403)
    await set(subId, true)
    expect((await publish(ana, two, '2.0.0')).status).toBe(201)
    const twice = await publish(ana, two, '2.0.0')
    expect([twice.status, twice.body.message]).toEqual([
      403,
      'A module with the same name & version already exists in the project.',
    ])
    await set(topId, false)
    await set(subId, false)
  })
})

describe('a cleanup policy', () => {
  async function filesOf(at: string, id: number): Promise<string[]> {
    const { body } = await ana.get(`${at}/${id}/package_files?per_page=100`)
    return body.map((one: { file_name: string }) => one.file_name)
  }

  test('takes each of its numbers, is off by default, and can be switched off again', async () => {
    const at = await newProject('policy')
    const path = `${at}/cleanup/policy`
    const keep = 'keep_n_duplicated_package_files'
    for (const number of ['1', '10', '20', '30', '40', '50']) {
      const set = await maintainer.put(path, { [keep]: number })
      expect(set.body).toEqual({
        [keep]: number,
        next_run_at: '2026-05-04T22:00:00.000Z',
      })
    }
    const off = { [keep]: 'all', next_run_at: null }
    expect((await maintainer.put(path, { [keep]: 'all' })).body).toEqual(off)
    for (const [value, error] of [
      [15, `${keep} does not have a valid value`],
      [null, `${keep} is missing`],
    ]) {
      const refused = await maintainer.put(path, { [keep]: value })
      expect([refused.status, refused.body]).toEqual([400, { error }])
    }
    expect((await maintainer.get(path)).body).toEqual(off)
    expect((await developer.get(path)).status).toBe(403)
  })

  test('counts the files of each revision of a Conan package by themselves', async () => {
    const at = await newProject('policy-conan')
    const old = `${at}/conan/v1/files/tool/1.0.0/_/_/0/export`
    for (const content of ['first', 'second']) {
      await ana.put(`${old}/conanfile.py`, undefined, { raw: content })
      await ana.put(`${old}/conanmanifest.txt`, undefined, { raw: content })
    }
    for (const revision of ['a', 'b']) {
      const files = `${at}/conan/v2/conans/tool/1.0.0/_/_/revisions/${revision.repeat(32)}/files`
      await ana.put(`${files}/conanfile.py`, undefined, { raw: revision })
    }
    const [row] = (await ana.get(at)).body
    expect(await filesOf(at, row.id)).toHaveLength(6)
    await maintainer.put(`${at}/cleanup/policy`, {
      keep_n_duplicated_package_files: '1',
    })
    world.setNow('2026-05-05T10:00:00.000Z')
    await world.runTasks()
    expect((await filesOf(at, row.id)).sort()).toEqual([
      'conanfile.py',
      'conanfile.py',
      'conanfile.py',
      'conanmanifest.txt',
    ])
    const kept = await ana.get(`${old}/conanfile.py`)
    expect(kept.body).toBe('second')
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('leaves a Helm chart in each of its channels', async () => {
    const at = await newProject('policy-helm')
    const chart = await tarballOf({
      'c/Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n',
    })
    for (const channel of ['beta', 'stable', 'stable']) {
      const raw = formOf({ chart }, 'c.tgz')
      await ana.post(`${at}/helm/api/${channel}/charts`, undefined, { raw })
    }
    await maintainer.put(`${at}/cleanup/policy`, {
      keep_n_duplicated_package_files: '1',
    })
    world.setNow('2026-05-07T10:00:00.000Z')
    await world.runTasks()
    const [row] = (await ana.get(at)).body
    expect(await filesOf(at, row.id)).toHaveLength(2)
    expect((await ana.get(`${at}/helm/beta/charts/c-1.0.0.tgz`)).status).toBe(200)
    expect((await ana.get(`${at}/helm/stable/charts/c-1.0.0.tgz`)).status).toBe(200)
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('that is switched off while it runs stays off', async () => {
    const at = await newProject('policy-off-meanwhile')
    const path = `${at}/cleanup/policy`
    await maintainer.put(path, { keep_n_duplicated_package_files: '1' })
    world.setNow('2026-05-08T10:00:00.000Z')
    const run = async () => runCleanupPolicies.handler(world.ctx, {}, new AbortController().signal)
    await atOnce(world, [run], (db) =>
      db
        .updateTable('package_cleanup_policies')
        .set({ keep_n_duplicated_package_files: 'all', next_run_at: null })
        .execute(),
    )
    expect((await maintainer.get(path)).body).toEqual({
      keep_n_duplicated_package_files: 'all',
      next_run_at: null,
    })
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('that is off leaves everything', async () => {
    const at = await newProject('policy-off')
    for (let count = 0; count < 3; count += 1) await publishing.generic?.(ana, at)
    const [row] = (await ana.get(at)).body
    await maintainer.put(`${at}/cleanup/policy`, {
      keep_n_duplicated_package_files: '1',
    })
    await maintainer.put(`${at}/cleanup/policy`, {
      keep_n_duplicated_package_files: 'all',
    })
    world.setNow('2026-05-09T10:00:00.000Z')
    await world.runTasks()
    expect(await filesOf(at, row.id)).toHaveLength(3)
    world.setNow('2026-05-04T10:00:00.000Z')
  })
})
