import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { productVersion } from '../base/version.ts'
import { command } from './command.ts'

/** The version of the git program in the PATH; undefined without one. */
export async function gitVersion(): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('git', ['version'])
    return /\d+(\.\d+)+/.exec(stdout)?.[0]
  } catch {
    return undefined
  }
}

export const version = command({
  name: 'version',
  summary: 'Show the versions of Gitstead, Node and git',
  args: [],
  options: {},
  async run() {
    const git = (await gitVersion()) ?? null
    const node = process.versions.node
    return {
      lines: [`gitstead ${productVersion} (node ${node}, git ${git ?? 'missing'})`],
      data: { gitstead: productVersion, node, git },
    }
  },
})
