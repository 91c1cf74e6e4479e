import { valid } from 'semver'
import { badRequest } from '../../base/problem.ts'

const nameForm = /^[a-z0-9][a-z0-9_.-]{0,126}\/[a-z0-9][a-z0-9_.-]{0,126}$/

export function isComposerName(name: string): boolean {
  return nameForm.test(name) && !name.includes('..')
}

/** The version of a tag: without its leading `v`. */
export function versionOfTag(tag: string): string {
  const version = tag.replace(/^v/, '')
  if (version.length > 255 || valid(version) === null || !/^\d/.test(version)) {
    throw badRequest('Version is invalid')
  }
  return version
}

/** The version of a branch: `1` and `1.x` are `1.x-dev`, `1.0` is `1.0.x-dev`, others `dev-<branch>`. */
export function versionOfBranch(branch: string): string {
  const [, numbers] = /^v?(\d+(?:\.\d+){0,2})(?:\.x)?$/.exec(branch) ?? []
  return numbers === undefined ? `dev-${branch}` : `${numbers}.x-dev`
}
