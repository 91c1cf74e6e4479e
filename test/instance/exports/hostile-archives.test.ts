import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { projectRecord } from '../../../src/instance/exports/archive-form.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { git } from '../../support/git.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { archiveOf, type Entry, projectFile, upload } from './archives.ts'

const world = useWorld({ maxPush: 4 * 1024 * 1024 }, { background: false })
const ana = useCaller(world, 'ana')
let count = 0

beforeAll(async () => {
  const unlimited = { project_export_limit: 0, project_import_limit: 0, group_import_limit: 0 }
  await world.root.put('/application/settings', unlimited)
})

/** Imports an archive, and gives how that ended. */
async function imported(archive: Uint8Array<ArrayBuffer>, path?: string) {
  count += 1
  const raw = upload(archive, { path: path ?? `import-${count}` })
  const made = await ana.post('/projects/import', undefined, { raw })
  expect(made.status).toBe(201)
  await world.runTasks()
  const { body } = await ana.get(`/projects/${made.body.id}/import`)
  const shown = await ana.get(`/projects/${made.body.id}`)
  expect(shown.status).toBe(200)
  return { status: body.import_status, error: body.import_error, project: shown.body }
}

/** A bundle of a repository that `fill` fills. */
function bundleOf(fill: (path: string) => void, refs = ['--all']): Uint8Array {
  count += 1
  const path = join(world.folder, `bundled-${count}`)
  mkdirSync(path)
  git(path, ['init', '-q', '--bare', '-b', 'main'])
  fill(path)
  git(path, ['bundle', 'create', '-q', 'out.bundle', ...refs])
  return readFileSync(join(path, 'out.bundle'))
}

const plainBundle = () =>
  bundleOf((path) => void commitFiles({ path }, { files: { 'a.txt': 'x' } }))

const unreadable = 'the file is no archive that can be read'
const foreign = 'the archive is not an export of this program'

describe('an archive', () => {
  test.each<[string, () => Promise<Uint8Array<ArrayBuffer>>, string]>([
    ['of nothing', async () => new Uint8Array(0), unreadable],
    ['that is not packed', async () => new Uint8Array(Buffer.from(projectFile())), unreadable],
    [
      'that is cut off',
      async () => (await archiveOf([['project.json', projectFile()]])).slice(0, 90),
      unreadable,
    ],
    ['without a project', () => archiveOf([['group.json', projectFile()]]), foreign],
    ['of another form', () => archiveOf([['project.json', projectFile({ form: '2' })]]), foreign],
    ['whose project is no JSON', () => archiveOf([['project.json', '{']]), foreign],
    ['whose project is a list', () => archiveOf([['project.json', '[]']]), foreign],
    [
      'whose project is a link to another file',
      () =>
        archiveOf([
          ['real.json', projectFile()],
          ['project.json', '', { type: 'symlink', linkname: '/etc/passwd' }],
        ]),
      foreign,
    ],
    [
      'whose project is a hard link',
      () => archiveOf([['project.json', '', { type: 'link', linkname: 'real.json' }]]),
      foreign,
    ],
    [
      'whose project is below another name',
      () => archiveOf([['deep/project.json', projectFile()]]),
      foreign,
    ],
  ])('%s is refused with a reason', async (_, archive, reason) => {
    const { status, error } = await imported(await archive())
    expect([status, error]).toEqual(['failed', reason])
  })

  test('that unpacks to more than a push may bring is refused, however small it is', async () => {
    const bomb = await archiveOf([
      ['zeros', new Uint8Array(5 * 1024 * 1024)],
      ['project.json', projectFile()],
    ])
    expect(bomb.length).toBeLessThan(10_000)
    expect(await imported(bomb)).toMatchObject({
      status: 'failed',
      error: 'the archive is too large',
    })
    const bundle: Entry[] = [
      ['project.json', projectFile()],
      ['project.bundle', new Uint8Array(5 * 1024 * 1024)],
    ]
    expect(await imported(await archiveOf(bundle))).toMatchObject({ status: 'failed' })
  })

  test('writes nothing under names of its own, and leaves nothing behind', async () => {
    const before = readdirSync(world.folder).sort()
    const { status, project } = await imported(
      await archiveOf([
        ['../../escaped', 'x'],
        ['/tmp/escaped-too', 'x'],
        ['project.json/../../../escaped', 'x'],
        ['device', '', { type: 'character-device', devmajor: 1, devminor: 3 }],
        ['fifo', '', { type: 'fifo' }],
        ['folder', '', { type: 'directory' }],
        ['./project.json', projectFile({ description: 'Found' })],
        ['VERSION', 'whatever'],
      ]),
    )
    expect([status, project.description]).toEqual(['finished', 'Found'])
    expect(readdirSync(world.folder).sort()).toEqual(before)
    expect(readdirSync(join(world.folder, 'tmp'))).toEqual([])
  })
})

describe('what an archive says of a project', () => {
  test('counts as far as we would take it from anybody; what we do not know is passed over', async () => {
    const { status, project } = await imported(
      await archiveOf([
        [
          'project.json',
          projectFile({
            description: 'Kept',
            topics: ['one', 'two'],
            settings: {
              merge_method: { evil: 1 },
              only_allow_merge_if_pipeline_succeeds: 'yes',
              ci_config_path: 'ci/here.yml',
              issues_access_level: 'everyone',
              wiki_access_level: 'private',
              squash_option: 'always',
              max_artifacts_size: 777_777,
              repository_size_limit: 0,
              __proto__: { polluted: true },
              constructor: 'x',
              import_type: 'mine',
              runners_token: 'stolen',
              something_else: 1,
            },
            more: 'x',
          }),
        ],
      ]),
    )
    expect(status).toBe('finished')
    expect(project).toMatchObject({
      description: 'Kept',
      topics: ['one', 'two'],
      merge_method: 'merge',
      only_allow_merge_if_pipeline_succeeds: false,
      ci_config_path: 'ci/here.yml',
      issues_access_level: 'enabled',
      wiki_access_level: 'private',
      squash_option: 'always',
      max_artifacts_size: null,
      repository_size_limit: null,
      import_type: 'gitstead_project',
    })
    expect(JSON.stringify(project)).not.toContain('stolen')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('is no longer, and no number larger, than requests may say', async () => {
    const { status, project } = await imported(
      await archiveOf([
        [
          'project.json',
          projectFile({
            settings: {
              issues_template: 'x'.repeat(1_000_000),
              build_coverage_regex: 'x'.repeat(256),
              build_timeout: 10 ** 15,
              ci_default_git_depth: -1,
              approvals_before_merge: 3,
              merge_requests_template: 'y'.repeat(100_000),
              suggestion_commit_message: null,
            },
          }),
        ],
      ]),
    )
    expect([status, project]).toMatchObject([
      'finished',
      {
        issues_template: null,
        build_coverage_regex: null,
        build_timeout: 3600,
        ci_default_git_depth: 20,
        approvals_before_merge: 3,
        merge_requests_template: 'y'.repeat(100_000),
        suggestion_commit_message: null,
      },
    ])
  })

  test.each([
    ['name', 7],
    ['description', 'x'.repeat(2001)],
    ['visibility', 'secret'],
    ['topics', 'one'],
    ['topics', Array.from({ length: 101 }, (_, n) => `t${n}`)],
    ['settings', []],
    ['default_branch', 'x'.repeat(1001)],
    ['labels', [{ name: 'x' }]],
    ['labels', [{ name: 'x', color: '#fff', description: null, priority: -1 }]],
    ['milestones', [{ title: 'x', description: null, start_date: null, due_date: null }]],
    [
      'milestones',
      [
        {
          title: 'x',
          description: null,
          start_date: '2026-02-31',
          due_date: null,
          state: 'active',
        },
      ],
    ],
    [
      'milestones',
      [{ title: 'x', description: null, start_date: null, due_date: 'soon', state: 'active' }],
    ],
    [
      'milestones',
      [{ title: 'x', description: null, start_date: null, due_date: null, state: 'gone' }],
    ],
  ])('is refused as a whole where its %s is %j', (field, value) => {
    const read = (more = {}) => projectRecord.safeParse(JSON.parse(projectFile(more))).success
    expect([read(), read({ [field]: value })]).toEqual([true, false])
  })

  test('leaves out labels and milestones that nobody could make, and takes the others', async () => {
    const label = (name: string, color = '#ff0000') => ({ name, color, description: null })
    const milestone = (title: string, start_date: string | null, due_date: string | null) => ({
      title,
      description: null,
      start_date,
      due_date,
      state: 'active',
    })
    const { status, project } = await imported(
      await archiveOf([
        [
          'project.json',
          projectFile({
            labels: [label('good'), label('bad', 'no colour'), label('good'), label(' ')],
            milestones: [
              milestone('good', '2026-01-01', '2026-02-01'),
              milestone('turned', '2026-02-01', '2026-01-01'),
              milestone('good', null, null),
            ],
          }),
        ],
      ]),
    )
    expect(status).toBe('finished')
    const labels = await ana.get(`/projects/${project.id}/labels`)
    expect(labels.body.map((one: { name: string }) => one.name)).toEqual(['good'])
    const milestones = await ana.get(`/projects/${project.id}/milestones`)
    expect(milestones.body.map((one: { title: string }) => one.title)).toEqual(['good'])
  })

  test.each(['--upload-pack=x', '../x', 'no-such'])(
    'may name %j as its default branch and harm nothing',
    async (default_branch) => {
      const archive = await archiveOf([
        ['project.json', projectFile({ default_branch })],
        ['project.bundle', plainBundle()],
      ])
      const { status, project } = await imported(archive)
      if (status === 'failed') return expect(project.empty_repo).toBe(true)
      expect(status).toBe('finished')
      const branches = await ana.get(`/projects/${project.id}/repository/branches`)
      expect(branches.body.map((one: { name: string }) => one.name)).toEqual(['main'])
      expect((await ana.get(`/projects/${project.id}/repository/tree?ref=main`)).status).toBe(200)
    },
  )
})

describe('the repository of an archive', () => {
  test('brings its branches and tags, and no ref that is the server’s own', async () => {
    const bundle = bundleOf((path) => {
      const tip = commitFiles({ path }, { files: { 'a.txt': 'x' } })
      for (const ref of [
        'refs/heads/side',
        'refs/tags/v1',
        'refs/merge-requests/1/head',
        'refs/keep-around/x',
        'refs/notes/commits',
        'refs/hidden/x',
      ]) {
        git(path, ['update-ref', ref, tip])
      }
    })
    const archive = await archiveOf([
      ['project.json', projectFile()],
      ['project.bundle', bundle],
    ])
    const { status, project } = await imported(archive)
    expect([status, project.empty_repo, project.default_branch]).toEqual([
      'finished',
      false,
      'main',
    ])
    const { path } = world.ctx.git.open(project.id)
    const refs = git(path, ['for-each-ref', '--format=%(refname)']).split('\n')
    expect(refs).toEqual(expect.arrayContaining(['refs/heads/main', 'refs/heads/side']))
    expect(refs).toContain('refs/tags/v1')
    expect(refs.filter((ref) => /merge-requests|keep-around|hidden/.test(ref))).toEqual([])
  })

  test.each([
    ['empty', () => new Uint8Array(0)],
    ['noise', () => new Uint8Array(Buffer.from('# v2 git bundle\nnot a ref\n\nPACK'))],
    ['cut off', () => plainBundle().slice(0, -30)],
    ['one that needs commits which are not there', thinBundle],
    ['one with a tree that climbs out', () => treeBundle('100644 ..\0')],
    ['one with a folder of git’s own', () => treeBundle('100644 .git\0')],
    ['one with a mode that nobody writes', () => treeBundle('0100644 a\0')],
  ])('that is %s fails the import, and leaves an empty project', async (_, bundle) => {
    const archive = await archiveOf([
      ['project.json', projectFile({ description: 'half' })],
      ['project.bundle', bundle()],
    ])
    const { status, error, project } = await imported(archive)
    expect([status, project.empty_repo]).toEqual(['failed', true])
    expect(error).toMatch(/\S/)
    expect(error).not.toContain(world.folder)
    const tree = await ana.get(`/projects/${project.id}/repository/branches`)
    expect(tree.body).toEqual([])
  })

  test('may be none at all, and a wiki alone', async () => {
    const wiki = bundleOf((path) => void commitFiles({ path }, { files: { 'Home.md': '# Hi' } }))
    const archive = await archiveOf([
      ['project.json', projectFile()],
      ['project.wiki.bundle', wiki],
    ])
    const { status, project } = await imported(archive)
    expect([status, project.empty_repo]).toEqual(['finished', true])
    expect((await ana.get(`/projects/${project.id}/wikis/Home`)).body.content).toBe('# Hi')
    const broken = await archiveOf([
      ['project.json', projectFile()],
      ['project.wiki.bundle', 'no bundle'],
      ['project.bundle', plainBundle()],
    ])
    expect((await imported(broken)).status).toBe('failed')
  })

  /** The second commit without the first. */
  function thinBundle(): Uint8Array {
    return bundleOf(
      (path) => {
        const first = commitFiles({ path }, { files: { 'a.txt': 'x' } })
        commitFiles({ path }, { files: { 'a.txt': 'y' }, parents: [first] })
      },
      ['main', '^main~1'],
    )
  }

  /** A commit whose tree has one entry that starts so. */
  function treeBundle(start: string): Uint8Array {
    return bundleOf((path) => {
      const blob = git(path, ['hash-object', '-w', '--stdin'], { input: 'x' })
      const entry = Buffer.concat([Buffer.from(start), Buffer.from(blob, 'hex')])
      const tree = git(path, ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
        input: entry,
      })
      git(path, ['update-ref', 'refs/heads/main', git(path, ['commit-tree', '-m', 'x', tree])])
    })
  }
})

describe('an archive of groups', () => {
  const group = (relative_path: string, more: Record<string, unknown> = {}) => ({
    relative_path,
    name: relative_path.split('/').at(-1) || 'Top',
    path: relative_path.split('/').at(-1) || 'top',
    description: '',
    visibility: 'private',
    project_creation_level: 'developer',
    subgroup_creation_level: 'maintainer',
    settings: {},
    labels: [],
    milestones: [],
    ...more,
  })
  const send = async (groups: readonly unknown[], path: string, more = {}) => {
    const text = JSON.stringify({ form: 'gitstead-export-1', groups })
    const raw = upload(await archiveOf([['group.json', text]]), { name: path, path, ...more })
    return await ana.post('/groups/import', undefined, { raw })
  }

  test.each<[string, unknown[]]>([
    ['none', []],
    ['one without its parent', [group(''), group('a/b')]],
    ['a child before its parent', [group('a'), group('')]],
    ['two of the same path', [group(''), group('a'), group('A')]],
    ['two at the top', [group(''), group('')]],
    ['one with a path that is none', [group(''), group('a', { path: '../evil' })]],
    ['one with a reserved path', [group(''), group('a', { path: '-' })]],
    ['one without a name', [group(''), group('a', { name: '' })]],
    ['one that is more visible than anything', [group('', { visibility: 'everyone' })]],
    [
      'one with a wrong label',
      [group('', { labels: [{ name: 'x', color: 'y', description: '' }] })],
    ],
    ['one too deep', Array.from({ length: 30 }, (_, n) => group('a/'.repeat(n).slice(0, -1)))],
  ])('that has %s is refused, and leaves no group', async (name, groups) => {
    const path = `refused-${name.replaceAll(' ', '-')}`
    const before = (await ana.get('/groups?per_page=100')).body.length
    const reply = await send(groups, path)
    expect([name, reply.status]).toEqual([name, 400])
    expect((await ana.get(`/groups/${path}`)).status).toBe(404)
    expect((await ana.get('/groups?per_page=100')).body).toHaveLength(before)
    await world.runTasks()
    expect((await send([group('')], path)).status).toBe(202)
  })

  test('makes all groups with their labels and milestones, no more visible than what is above', async () => {
    const milestone = {
      title: 'v1',
      description: 'First',
      start_date: '2026-01-01',
      due_date: '2026-02-01',
      state: 'closed',
    }
    const below = group('sub', {
      visibility: 'public',
      description: 'Below',
      milestones: [milestone],
      labels: [{ name: 'bug', color: '#ff0000', description: 'Broken', archived: true }],
      settings: {
        emails_enabled: false,
        nonsense: 1,
        share_with_group_lock: 'perhaps',
        ip_restriction_ranges: 'x'.repeat(10_001),
        two_factor_grace_period: 7,
      },
    })
    const groups = [group('', { visibility: 'internal' }), below, group('sub/deep')]
    expect((await send(groups, 'whole')).status).toBe(202)
    await world.runTasks()
    expect((await ana.get('/groups/whole')).body).toMatchObject({ visibility: 'internal' })
    const { body: sub } = await ana.get('/groups/whole%2Fsub')
    expect(sub).toMatchObject({
      visibility: 'internal',
      description: 'Below',
      emails_enabled: false,
      share_with_group_lock: false,
      ip_restriction_ranges: null,
      two_factor_grace_period: 7,
    })
    expect((await ana.get('/groups/whole%2Fsub%2Fdeep')).body.parent_id).toBe(sub.id)
    const milestones = await ana.get(`/groups/${sub.id}/milestones?state=closed`)
    expect(milestones.body).toMatchObject([milestone])
    const labels = await ana.get(`/groups/${sub.id}/labels?archived=true`)
    expect(labels.body).toMatchObject([{ name: 'bug', description: 'Broken', archived: true }])
  })

  test('makes them no more visible than the instance allows, and no looser than what is above', async () => {
    const restrict = (levels: string[]) =>
      world.root.put('/application/settings', { restricted_visibility_levels: levels })
    await restrict(['public'])
    const loose = { settings: { shared_runners_setting: 'enabled' } }
    const strict = {
      settings: {
        shared_runners_setting: 'disabled_and_unoverridable',
        max_artifacts_size: 777_777,
      },
    }
    const groups = [group('', { visibility: 'public', ...strict }), group('sub', loose)]
    expect((await send(groups, 'lowered')).status).toBe(202)
    await world.runTasks()
    await restrict([])
    expect((await ana.get('/groups/lowered')).body).toMatchObject({
      visibility: 'internal',
      max_artifacts_size: null,
    })
    const { body: sub } = await ana.get('/groups/lowered%2Fsub')
    expect(sub.shared_runners_setting).toBe('disabled_and_unoverridable')
  })

  const pathsOf = async (top: string): Promise<string[]> => {
    const { body } = await ana.get('/groups?per_page=100')
    const paths: string[] = body.map((one: { full_path: string }) => one.full_path)
    return paths.filter((path) => path === top || path.startsWith(`${top}/`)).sort()
  }
  const refuseGroup = (path: string) =>
    sql
      .raw(`CREATE TRIGGER refused BEFORE INSERT ON namespaces WHEN NEW.path = '${path}'
        BEGIN SELECT RAISE(ABORT, 'refused'); END`)
      .execute(world.ctx.db)
  const refuseNone = () => sql`DROP TRIGGER IF EXISTS refused`.execute(world.ctx.db)
  const label = { name: 'bug', color: '#ff0000', description: '' }

  test('is gone on with where its import was cut off, and every group is there once', async () => {
    const names = ['', 'one', 'one/two', 'last', 'last/deep']
    const groups = names.map((name, n) => group(name, { labels: [{ ...label, name: `no ${n}` }] }))
    await refuseGroup('last')
    try {
      expect((await send(groups, 'resumed')).status).toBe(202)
      await world.runTasks()
      expect(await pathsOf('resumed')).toEqual(['resumed', 'resumed/one', 'resumed/one/two'])
    } finally {
      await refuseNone()
    }
    world.setNow('2026-05-04T10:01:00.000Z')
    await world.runTasks()
    world.setNow('2026-05-04T10:00:00.000Z')
    const paths = names.map((name) => (name ? `resumed/${name}` : 'resumed'))
    expect(await pathsOf('resumed')).toEqual(paths.toSorted())
    for (const [n, path] of paths.entries()) {
      const at = `/groups/${encodeURIComponent(path)}/labels?include_ancestor_groups=false`
      expect((await ana.get(at)).body).toMatchObject([{ ...label, name: `no ${n}` }])
    }
    const waiting = world.ctx.db.selectFrom('tasks').selectAll()
    expect(await waiting.where('name', '=', 'exports.read_groups').execute()).toEqual([])
  })

  /** What the audit trail of a group says of its import. */
  const failuresOf = async (path: string) => {
    const { body } = await ana.get(`/groups/${path}/audit_events`)
    const failures = body.filter((one: { event_name: string }) => one.event_name.includes('import'))
    return failures.map((one: { details: { reason: string } }) => one.details.reason)
  }

  test('keeps what is there when its import fails for good, and says why', async () => {
    await refuseGroup('last')
    try {
      expect((await send([group(''), group('one'), group('last')], 'failed')).status).toBe(202)
      for (const minute of [1, 2, 3]) {
        expect(await failuresOf('failed')).toEqual([])
        await world.runTasks()
        world.setNow(`2026-05-04T10:0${minute}:00.000Z`)
      }
    } finally {
      await refuseNone()
      world.setNow('2026-05-04T10:00:00.000Z')
    }
    expect(await pathsOf('failed')).toEqual(['failed', 'failed/one'])
    expect(await failuresOf('failed')).toEqual([expect.stringContaining('refused')])
    const wrong = group('one', { labels: [{ ...label, color: 'y' }] })
    expect((await send([group(''), wrong], 'wrong')).status).toBe(202)
    await world.runTasks()
    expect(await pathsOf('wrong')).toEqual(['wrong'])
    expect(await failuresOf('wrong')).toEqual([expect.stringContaining('valid color code')])
  })

  test('passes over labels and milestones that a group above has', async () => {
    const days = { start_date: null, due_date: null }
    const milestone = { title: 'v1', description: '', state: 'active', ...days }
    const both = { labels: [label], milestones: [milestone] }
    const above = await createGroup(ana, 'above')
    await ana.post(`/groups/${above.id}/labels`, label)
    await ana.post(`/groups/${above.id}/milestones`, { title: 'v1' })
    const archive = [
      group('', both),
      group('one', { ...both, labels: [{ ...label, name: 'own' }] }),
    ]
    expect((await send(archive, 'twice', { parent_id: String(above.id) })).status).toBe(202)
    await world.runTasks()
    expect(await pathsOf('above')).toEqual(['above', 'above/twice', 'above/twice/one'])
    const { body: labels } = await ana.get('/groups/above%2Ftwice%2Fone/labels')
    expect(labels.map((one: { name: string }) => one.name)).toEqual(['bug', 'own'])
  })

  test('makes nothing more for somebody who was blocked meanwhile', async () => {
    const eve = await world.user('eve')
    const text = JSON.stringify({ form: 'gitstead-export-1', groups: [group(''), group('one')] })
    const raw = upload(await archiveOf([['group.json', text]]), { name: 'eves', path: 'eves' })
    expect((await eve.post('/groups/import', undefined, { raw })).status).toBe(202)
    expect((await world.root.get('/groups/eves')).status).toBe(200)
    await world.root.post(`/users/${eve.id}/block`)
    await world.runTasks()
    expect((await world.root.get('/groups/eves/subgroups')).body).toEqual([])
  })

  test('goes below a group only for those who may make groups there', async () => {
    const bob = await world.user('bob')
    const parent = await createGroup(ana, 'parent')
    const text = JSON.stringify({ form: 'gitstead-export-1', groups: [group('')] })
    const raw = async () =>
      upload(await archiveOf([['group.json', text]]), {
        name: 'in',
        path: 'in',
        parent_id: String(parent.id),
      })
    expect((await bob.post('/groups/import', undefined, { raw: await raw() })).status).toBe(404)
    await ana.post(`/groups/${parent.id}/members`, { user_id: bob.id, access_level: 30 })
    expect((await bob.post('/groups/import', undefined, { raw: await raw() })).status).toBe(403)
    expect((await ana.post('/groups/import', undefined, { raw: await raw() })).status).toBe(202)
    expect((await ana.get('/groups/parent%2Fin')).status).toBe(200)
    expect(
      (await world.nobody.post('/groups/import', undefined, { raw: await raw() })).status,
    ).toBe(401)
  })
})

test('what goes into an export comes back from it', async () => {
  const source = await createProject(ana, 'source')
  const at = `/projects/${source.id}`
  const label = { name: 'bug', color: '#ff0000', description: 'x'.repeat(20_000), priority: 3 }
  expect((await ana.post(`${at}/labels`, label)).status).toBe(201)
  await ana.post(`${at}/labels`, { name: 'old', color: '#00ff00', archived: true })
  const open = { title: 'open', description: 'y'.repeat(5000), due_date: '2026-12-24' }
  await ana.post(`${at}/milestones`, open)
  const { body: done } = await ana.post(`${at}/milestones`, { title: 'done' })
  await ana.put(`${at}/milestones/${done.id}`, { state_event: 'close' })
  await ana.post(`${at}/export`)
  await world.runTasks()
  const file = await fetch(`${world.url}/api/v4${at}/export/download`, {
    headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
  })
  expect(file.headers.get('content-disposition')).toContain('2026-05-04_source_export.tar.gz')
  const archive = new Uint8Array(await file.arrayBuffer())
  const { status, error, project } = await imported(archive, 'returned')
  expect([status, error]).toEqual(['finished', null])
  const labels = await ana.get(`/projects/${project.id}/labels?archived=false`)
  expect(labels.body).toMatchObject([label])
  const old = await ana.get(`/projects/${project.id}/labels?archived=true`)
  expect(old.body).toMatchObject([{ name: 'old', archived: true }])
  const milestones = (await ana.get(`/projects/${project.id}/milestones`)).body
  expect(
    milestones.map((one: { title: string; state: string }) => [one.title, one.state]).sort(),
  ).toEqual([
    ['done', 'closed'],
    ['open', 'active'],
  ])
  expect(milestones.find((one: { title: string }) => one.title === 'open')).toMatchObject(open)
})
