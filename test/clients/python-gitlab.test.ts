import { expect, test } from 'vitest'
import { useWorld } from '../support/world.ts'
import { hasPythonGitlab, runPython } from './python.ts'

const world = useWorld({ limitArchives: 0 })

test.runIf(hasPythonGitlab)(
  'python-gitlab, unchanged, manages users, groups, projects, files, commits, issues and tokens',
  async () => {
    const token = await world.token(world.root.id, ['api', 'sudo'])
    const said = await runPython('./python_gitlab.py', world.url, token)
    expect(said).toBe('done users\ndone groups\ndone projects\ndone refusals\n')
  },
  120_000,
)

test.runIf(hasPythonGitlab)(
  'python-gitlab, unchanged, runs a whole review from branch to release',
  async () => {
    const token = await world.token(world.root.id, ['api', 'sudo'])
    expect(await runPython('./review.py', world.url, token)).toBe('done review\n')
  },
  120_000,
)

test.runIf(hasPythonGitlab)(
  'python-gitlab, unchanged, administers people, keys, tokens and the instance',
  async () => {
    const token = await world.token(world.root.id, ['api', 'sudo'])
    const said = await runPython('./administration.py', world.url, token)
    expect(said).toBe('done people\ndone keys\ndone tokens\ndone access\ndone instance\n')
  },
  120_000,
)

test.runIf(hasPythonGitlab)(
  'python-gitlab, unchanged, writes snippets and wikis',
  async () => {
    const token = await world.token(world.root.id, ['api', 'sudo'])
    const said = await runPython('./pages.py', world.url, token)
    expect(said).toBe('done snippets\ndone project snippets\ndone wikis\n')
  },
  120_000,
)

test.runIf(hasPythonGitlab)(
  'python-gitlab, unchanged, runs pipelines, with variables, triggers, schedules and environments',
  async () => {
    const token = await world.token(world.root.id, ['api', 'sudo'])
    const said = await runPython('./pipelines.py', world.url, token)
    const parts = ['variables', 'pipelines', 'starts', 'environments', 'runners']
    expect(said).toBe(parts.map((part) => `done ${part}\n`).join(''))
  },
  120_000,
)

test.runIf(hasPythonGitlab)(
  'python-gitlab, unchanged, works with alerts, incidents and errors',
  async () => {
    const token = await world.token(world.root.id, ['api', 'sudo'])
    expect(await runPython('./monitoring.py', world.url, token)).toBe('done alerts\ndone errors\n')
  },
  120_000,
)
