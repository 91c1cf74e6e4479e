import { beforeEach, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { openWorld, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({ limitChangelogs: 0 })
const ana = useCaller(world, 'ana')
let project: TestProject
let count = 0

beforeEach(async () => {
  count += 1
  project = await addProject(world, ana, 'basic', { path: `basic${count}` })
})

function change(message: string): Promise<{ body: { id: string } }> {
  const actions = [{ action: 'create', file_path: `f${Math.random()}`, content: '' }]
  const body = { branch: 'main', commit_message: message, actions }
  return ana.post(`${project.api}/commits`, body)
}

function get(query: string) {
  return ana.get(`${project.api}/changelog?${query}`)
}

function link(sha: string): string {
  return `${world.app.config.externalUrl}/${project.fullPath}/-/commit/${sha}`
}

describe('the changelog of a version', () => {
  test('lists what carries the trailer since the version before', async () => {
    const fix = await change('Fix it\n\nChangelog: fixed')
    const add = await change('Add it\n\nLong.\n\nChangelog: added\nOther: x')
    await change('Say nothing')
    const reply = await get('version=1.1.0&date=2026-01-02')
    expect(reply.body).toEqual({
      notes:
        '## 1.1.0 (2026-01-02)\n\n' +
        `### added (1 change)\n\n- [Add it](${link(add.body.id)})\n\n` +
        `### fixed (1 change)\n\n- [Fix it](${link(fix.body.id)})\n`,
    })
  })

  test('names the merge request that brought a commit in', async () => {
    await ana.post(`${project.api}/commits`, {
      branch: 'topic',
      start_branch: 'main',
      commit_message: 'Bring it\n\nChangelog: added',
      actions: [{ action: 'create', file_path: 'topic.txt', content: '' }],
    })
    const base = `/projects/${project.id}/merge_requests`
    const asked = { source_branch: 'topic', target_branch: 'main', title: 'Topic' }
    const { body } = await ana.post(base, asked)
    await world.runTasks()
    const merged = await ana.put(`${base}/${body.iid}/merge`)
    expect([merged.status, merged.body.state]).toEqual([200, 'merged'])
    const reply = await get('version=1.1.0&date=2026-01-02')
    const url = `${world.app.config.externalUrl}/${project.fullPath}/-/merge_requests/${body.iid}`
    expect(reply.body.notes).toContain(`([merge request](${url}))`)
    const path = `${project.api}/commits/${merged.body.merge_commit_sha}/revert`
    const reverted = await ana.post(path, { branch: 'main' })
    expect(reverted.body.message).toMatch(/\n\nThis reverts merge request !1$/)
  })

  test('credits those who are no members, by their mail address', async () => {
    await world.user('ben')
    const actions = [{ action: 'create', file_path: 'x', content: '' }]
    const made = await ana.post(`${project.api}/commits`, {
      branch: 'main',
      commit_message: 'Help\n\nChangelog: added',
      actions,
      author_email: 'ben@example.com',
    })
    const reply = await get('version=1.1.0&date=2026-01-02')
    expect(reply.body.notes).toContain(`- [Help](${link(made.body.id)}) by @ben\n`)
  })

  test('takes its range, trailer and configuration from the request', async () => {
    await ana.post(`${project.api}/files/.svc%2Fchangelog_config.yml`, {
      branch: 'main',
      commit_message: 'Configure',
      content: 'date_format: "%d.%m.%Y"\ncategories:\n  added: New things\n',
    })
    const from = project.git('rev-list', '--max-parents=0', 'main')
    const reply = await get(`version=v0.2.0&from=${from}&to=v1.0.0&date=2026-01-02`)
    const sha = project.git('log', '-1', '--format=%H', '--grep=changelog', 'main')
    expect(reply.body.notes).toBe(
      `## 0.2.0 (02.01.2026)\n\n### New things (1 change)\n\n- [Add a changelog](${link(sha)})\n`,
    )
    const other = await get(`version=0.2.0&from=${from}&trailer=Reviewed-by&config_file=none.yml`)
    expect(other.body.notes).toContain('### Ben Nakamura <ben@example.com> (1 change)')
    const none = await get(`version=0.2.0&from=${from}&trailer=Nothing`)
    expect(none.body.notes).toContain('No changes.')
  })

  test.each([
    ['', 400, { error: 'version is missing' }],
    ['version=', 400, { error: 'version is empty' }],
    ['version=next', 400, { error: 'version is invalid' }],
    ['version=1.0.0&date=x', 400, { error: 'date is invalid' }],
    [
      'version=x1.0.0',
      422,
      {
        message:
          'Failed to generate the changelog: The requested `version` attribute format is not correct. Use formats such as `1.0.0` or `v1.0.0`.',
      },
    ],
    [
      'version=0.0.1',
      422,
      {
        message:
          'Failed to generate the changelog: The commit start range is unspecified, and no previous tag could be found to use instead',
      },
    ],
    [
      'version=2.0.0&from=nowhere',
      422,
      {
        message:
          'Failed to generate the changelog: Invalid or not found commit value in the given range',
      },
    ],
  ])('with %s answers %i', async (query, status, body) => {
    const reply = await get(query)
    expect([reply.status, reply.body]).toEqual([status, body])
  })

  test('with a broken configuration says so', async () => {
    await ana.post(`${project.api}/files/.svc%2Fchangelog_config.yml`, {
      branch: 'main',
      commit_message: 'Break',
      content: 'a: [',
    })
    const reply = await get('version=1.1.0')
    expect([reply.status, reply.body]).toEqual([
      422,
      {
        message:
          'Failed to generate the changelog: .svc/changelog_config.yml does not contain valid YAML',
      },
    ])
  })
})

describe('committing the changelog', () => {
  test('puts the section where its version belongs, once', async () => {
    const { body } = await change('Add it\n\nChangelog: added')
    const input = { version: '1.1.0', date: '2026-01-02' }
    const reply = await ana.post(`${project.api}/changelog`, input)
    expect(reply.status).toBe(200)
    const text = project.git('show', 'main:CHANGELOG.md')
    expect(text).toBe(
      `## 1.1.0 (2026-01-02)\n\n### added (1 change)\n\n- [Add it](${link(body.id)})\n\n## 0.1.0`,
    )
    expect(project.git('log', '-1', '--format=%s', 'main')).toBe('Add changelog for version 1.1.0')
    const tip = project.git('rev-parse', 'main')
    const again = await ana.post(`${project.api}/changelog`, input)
    expect([again.status, project.git('rev-parse', 'main')]).toEqual([200, tip])
  })

  test('makes the file that is named, on the branch that is named', async () => {
    const reply = await ana.post(`${project.api}/changelog`, {
      version: '1.1.0',
      branch: 'feature/one',
      file: 'docs/NEWS.md',
      message: 'News',
      from: project.git('rev-parse', 'old'),
      date: '2026-01-02',
    })
    expect(reply.status).toBe(200)
    expect(project.git('show', 'feature/one:docs/NEWS.md')).toContain('## 1.1.0 (2026-01-02)')
    expect(project.git('log', '-1', '--format=%s', 'feature/one')).toBe('News')
  })

  test('needs the right to push there', async () => {
    await ana.put(`${project.api}/branches/main/protect`)
    const dev = await world.user(`dev${count}`)
    await addMember(world, project, dev, 30)
    const reply = await dev.post(`${project.api}/changelog`, { version: '1.1.0' })
    expect([reply.status, reply.body]).toEqual([
      403,
      {
        message: '403 Forbidden - You are not allowed to commit a changelog on this branch',
      },
    ])
    expect((await world.nobody.post(`${project.api}/changelog`, { version: '1.1.0' })).status).toBe(
      404,
    )
  })
})

test('changelogs are limited for each user and project', async () => {
  const strict = await openWorld({ limitChangelogs: 1 })
  const eve = await strict.user('eve')
  const one = await addProject(strict, eve, 'basic')
  expect((await eve.get(`${one.api}/changelog?version=2.0.0`)).status).toBe(200)
  const refused = await eve.get(`${one.api}/changelog?version=2.0.0`)
  expect([refused.status, refused.body]).toEqual([
    429,
    {
      message: {
        error: 'This changelog has been requested too many times. Try again later.',
      },
    },
  ])
  await strict.close()
})
