// @ts-check
// Loads compiled sources by `require`, which opens one file after the other. `import` opens all that it has found at
// once, some hundred files, and fails where a process may hold few open (`ulimit -n 256`); it is also slower.
import { createRequire } from 'node:module'
import { join } from 'node:path'

/**
 * The exports of a compiled module, by its path below dist/.
 *
 * @param {string} root
 * @param {string} file
 */
export function loadCompiled(root, file) {
  return createRequire(import.meta.url)(join(root, 'dist', file))
}
