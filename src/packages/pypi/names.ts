import { normalName } from '../../base/name-pattern.ts'
import { badRequest, invalidText } from '../../base/problem.ts'

const nameForm = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/
const fileForm = /^[A-Za-z0-9](?:[A-Za-z0-9._+!-]*[A-Za-z0-9])?$/

export function assertPypiName(name: string): void {
  if (name.length > 255 || !nameForm.test(name))
    throw invalidText('Validation failed: Name is invalid')
}

/** A distribution is a wheel or a source archive of this very package; a signature may stand beside it. */
export function assertFileName(fileName: string, name: string): void {
  const isPlain = fileName.length <= 255 && fileForm.test(fileName) && !fileName.includes('..')
  if (!isPlain || !/\.(whl|tar\.gz|zip|tar\.bz2|egg|asc)$/.test(fileName)) {
    throw badRequest('The name of the file is invalid')
  }
  if (!namesInFile(fileName).includes(normalName(name))) {
    throw badRequest('The file belongs to another package')
  }
}

const MOST_NAMES = 8

/**
 * The packages that a file may be of, as its name says: what stands before a dash and a version. The name of an old source
 * archive may hold such dashes itself.
 */
export function namesInFile(fileName: string): string[] {
  const ends = [...fileName.matchAll(/-(?=v?\d)/g)].map(({ index }) => index)
  return ends.slice(0, MOST_NAMES).map((end) => normalName(fileName.slice(0, end)))
}

/** PEP 440: epoch, release, pre-, post- and development release, local part. */
const versionForm =
  /^v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(a|alpha|b|beta|c|rc|pre|preview)[-_.]?(\d*))?(?:-(\d+)|[-_.]?(?:post|rev|r)[-_.]?(\d*)())?(?:[-_.]?dev[-_.]?(\d*)())?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$/

const PRE: Readonly<Record<string, string>> = {
  alpha: 'a',
  beta: 'b',
  c: 'rc',
  pre: 'rc',
  preview: 'rc',
}

const plain = (digits: string) => digits.replace(/^0+(?=\d)/, '') || '0'

/** A version as PEP 440 compares it (`1.0-RC.01` is `1.0rc1`, `1.0.0` is `1`); nothing for what is no version. */
export function normalVersion(version: string): string | undefined {
  if (version.length > 128) return undefined
  const parts = versionForm.exec(version.trim().toLowerCase())
  if (!parts) return undefined
  const [, epoch = '0', release = '', pre, preNumber = '', dash, post = '', isPost] = parts
  const [dev = '', isDev, local] = parts.slice(8)
  const numbers = release.split('.').map(plain)
  while (numbers.length > 1 && numbers.at(-1) === '0') numbers.pop()
  return [
    plain(epoch) === '0' ? '' : `${plain(epoch)}!`,
    numbers.join('.'),
    pre === undefined ? '' : `${PRE[pre] ?? pre}${plain(preNumber)}`,
    dash !== undefined ? `.post${plain(dash)}` : isPost !== undefined ? `.post${plain(post)}` : '',
    isDev === undefined ? '' : `.dev${plain(dev)}`,
    local === undefined ? '' : `+${local.split(/[-_.]/).map(localPart).join('.')}`,
  ].join('')
}

function localPart(part: string): string {
  return /^\d+$/.test(part) ? plain(part) : part
}
