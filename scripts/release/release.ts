// A release: checked, bundled, tagged, in this order, so that a tag always stands for what has passed and was built.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError } from '../setup/problem.mjs'

/** What keeps this clone from being released as it is, each in one line. */
export function obstacles(root: string): string[] {
  const version = versionOf(root)
  const branch = git(root, 'rev-parse', '--abbrev-ref', 'HEAD')
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const found = []
  if (branch !== 'main') found.push(`releases are made of main, this is ${branch}`)
  if (git(root, 'status', '--porcelain') !== '') found.push('there are changes without a commit')
  if (git(root, 'tag', '--list', tagOf(version)) !== '') {
    found.push(`${tagOf(version)} is there already: raise the version in package.json`)
  }
  if (!changelog.split('\n').some((line) => line.startsWith(`## ${version}`))) {
    found.push(`CHANGELOG.md has no section '## ${version}'`)
  }
  return found
}

export interface ReleaseSteps {
  /** Whether everything passes that a change must pass. */
  check(): boolean
  /** Makes the archive and its checksums, and gives their paths. */
  bundle(): readonly string[]
}

/** The tag and the files; a SetupError says in one line what is missing, and nothing is tagged then. */
export function release(root: string, { check, bundle }: ReleaseSteps) {
  const found = obstacles(root)
  if (found.length > 0) throw new SetupError(found.join('; '))
  if (!check()) throw new SetupError('the checks have failed: nothing is released')
  const files = bundle()
  const again = obstacles(root)
  if (again.length > 0) throw new SetupError(`meanwhile: ${again.join('; ')}`)
  const version = versionOf(root)
  git(root, 'tag', '-a', tagOf(version), '-m', `Gitstead ${version}`)
  return { tag: tagOf(version), files }
}

export function runChecks(root: string): boolean {
  return spawnSync('bash', ['.ci/run'], { cwd: root, stdio: 'inherit' }).status === 0
}

function tagOf(version: string): string {
  return `v${version}`
}

function versionOf(root: string): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim()
}
