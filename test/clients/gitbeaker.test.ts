import { Gitlab } from '@gitbeaker/rest'
import { beforeAll, describe, expect, test } from 'vitest'
import { useWorld } from '../support/world.ts'

const world = useWorld({ externalUrl: 'http://gitstead.example' })
let api: InstanceType<typeof Gitlab>

beforeAll(async () => {
  const token = await world.token(world.root.id, ['api', 'sudo'])
  api = new Gitlab({ host: world.url, token })
})

describe('@gitbeaker/rest, unchanged', () => {
  test('manages users', async () => {
    const user = await api.Users.create({
      email: 'bea@example.com',
      username: 'bea',
      name: 'Bea',
      password: 'a-long-Passw0rd',
      skipConfirmation: true,
    })
    expect(user.username).toBe('bea')
    expect((await api.Users.show(user.id)).name).toBe('Bea')
    const all = await api.Users.all({ username: 'bea' })
    expect(all.map((one) => one.id)).toEqual([user.id])
    expect((await api.Users.showCurrentUser()).username).toBe('root')
    await api.Users.remove(user.id)
  })

  test('manages groups, subgroups and members', async () => {
    const group = await api.Groups.create('Beakers', 'beakers')
    const inner = await api.Groups.create('Inner', 'inner', { parentId: group.id })
    expect(inner.full_path).toBe('beakers/inner')
    expect((await api.Groups.allSubgroups(group.id)).map((one) => one.id)).toEqual([inner.id])
    const user = await world.user('gina')
    const member = await api.GroupMembers.add(group.id, 30, { userId: user.id } as never)
    expect(member.access_level).toBe(30)
    const members = await api.GroupMembers.all(inner.id, { includeInherited: true })
    expect(members.map((one) => one.username).sort()).toEqual(['gina', 'root'])
    await api.GroupMembers.remove(group.id, user.id)
    await api.Groups.remove(group.id)
  })

  test('manages projects, branches and files', async () => {
    const project = await api.Projects.create({ name: 'Beaker', initializeWithReadme: true })
    expect((await api.Projects.show('root/beaker')).id).toBe(project.id)
    const made = await api.RepositoryFiles.create(
      project.id,
      'docs/a b.md',
      'main',
      'hello',
      'Add a file',
    )
    expect(made).toEqual({ file_path: 'docs/a b.md', branch: 'main' })
    const file = await api.RepositoryFiles.show(project.id, 'docs/a b.md', 'main')
    expect(Buffer.from(file.content, 'base64').toString()).toBe('hello')
    const branch = await api.Branches.create(project.id, 'feature/one', 'main')
    expect(branch.name).toBe('feature/one')
    const names = (await api.Branches.all(project.id)).map((one) => one.name)
    expect(names.sort()).toEqual(['feature/one', 'main'])
    const commit = await api.Commits.create(project.id, 'feature/one', 'Change', [
      { action: 'update', filePath: 'docs/a b.md', content: 'changed' },
    ])
    expect(commit.title).toBe('Change')
    const tree = await api.Repositories.allRepositoryTrees(project.id, { recursive: true })
    expect(tree.map((one) => one.path)).toContain('docs/a b.md')
    const compared = await api.Repositories.compare(project.id, 'main', 'feature/one')
    expect(compared.diffs).toHaveLength(1)
    await api.Branches.remove(project.id, 'feature/one')
    await api.RepositoryFiles.remove(project.id, 'docs/a b.md', 'main', 'Remove it')
    await api.Projects.remove(project.id)
  })

  test('pages through more than one page by itself', async () => {
    for (let n = 0; n < 12; n += 1) await api.Groups.create(`Page ${n}`, `page-${n}`)
    const groups = await api.Groups.all({ perPage: 5, search: 'page-' })
    expect(groups).toHaveLength(12)
    const shown = await api.Groups.all({
      perPage: 5,
      maxPages: 1,
      showExpanded: true,
      search: 'page-',
    })
    expect(shown.paginationInfo).toMatchObject({
      total: 12,
      totalPages: 3,
      next: 2,
      current: 1,
      perPage: 5,
    })
  })

  test('manages issues with notes and discussions', async () => {
    const project = await api.Projects.create({ name: 'Talk' })
    const issue = await api.Issues.create(project.id, 'It breaks', { labels: 'bug,ui' })
    expect(issue.labels).toEqual(['bug', 'ui'])
    const note = await api.IssueNotes.create(project.id, issue.iid, 'me too')
    expect(note.body).toBe('me too')
    const thread = await api.IssueDiscussions.create(project.id, issue.iid, 'why?')
    const reply = await api.IssueDiscussions.addNote(project.id, issue.iid, thread.id, 'because')
    expect(reply.body).toBe('because')
    const closed = await api.Issues.edit(project.id, issue.iid, { stateEvent: 'close' })
    expect(closed.state).toBe('closed')
    const listed = await api.Issues.all({ projectId: project.id, state: 'closed' })
    expect(listed).toHaveLength(1)
  })

  test('writes snippets', async () => {
    const files = [{ filePath: 'a.js', content: 'one' }]
    const own = await api.Snippets.create('Mine', { files, visibility: 'internal' } as never)
    expect(await api.Snippets.showContent(own.id)).toBe('one')
    expect((await api.Snippets.all()).map((one) => one.id)).toContain(own.id)
    const file = await api.Snippets.showRepositoryFileContent(own.id, 'main', 'a.js')
    expect(file).toBe('one')
    const edited = await api.Snippets.edit(own.id, { title: 'Yours' } as never)
    expect(edited.title).toBe('Yours')
    await api.Snippets.remove(own.id)
    const project = await api.Projects.create({ name: 'Cuttings' })
    const made = await api.ProjectSnippets.create(project.id, 'Here', {
      files,
      visibility: 'private',
    } as never)
    expect((await api.ProjectSnippets.all(project.id)).map((one) => one.id)).toEqual([made.id])
    const note = await api.ProjectSnippetNotes.create(project.id, made.id, 'nice')
    expect(note.body).toBe('nice')
    const thread = await api.ProjectSnippetDiscussions.create(project.id, made.id, 'why?')
    expect(thread.notes).toHaveLength(1)
    const award = await api.ProjectSnippetAwardEmojis.award(project.id, made.id, 'heart')
    expect(award.name).toBe('heart')
  })

  test('writes wikis', async () => {
    const project = await api.Projects.create({ name: 'Written' })
    const page = await api.ProjectWikis.create(project.id, '*hi*', 'guide/First page')
    expect(page.slug).toBe('guide/First-page')
    const shown = await api.ProjectWikis.show(project.id, page.slug, { renderHtml: true })
    expect(shown.content).toBe('<p><em>hi</em></p>\n')
    await api.ProjectWikis.edit(project.id, page.slug, { content: 'ho' })
    const all = await api.ProjectWikis.all(project.id, { withContent: true })
    expect(all.map((one) => one.content)).toEqual(['ho'])
    const file = { content: new Blob(['x']), filename: 'x.png' }
    const attached = await api.ProjectWikis.uploadAttachment(project.id, file)
    expect(attached).toMatchObject({ file_name: 'x.png' })
    await api.ProjectWikis.remove(project.id, page.slug)
    const group = await api.Groups.create('Writers', 'writers')
    const own = await api.GroupWikis.create(group.id, 'text', 'home')
    expect((await api.GroupWikis.show(group.id, own.slug)).content).toBe('text')
  })

  test('gets the error message of the server', async () => {
    const error = await api.Projects.show(999_999).catch((one: unknown) => one)
    expect(error).toMatchObject({
      cause: { description: '404 Project Not Found', response: { status: 404 } },
    })
  })
})
