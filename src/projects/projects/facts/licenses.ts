export interface License {
  readonly key: string
  readonly name: string
  readonly nickname: string | null
  readonly html_url: string
  readonly source_url: string | null
}

interface Known extends License {
  /** Words that this licence's text has, and that no other has; the first that fits wins. */
  readonly has: readonly RegExp[]
}

function known(
  key: string,
  name: string,
  nickname: string | null,
  source_url: string,
  has: readonly RegExp[],
): Known {
  const html_url = `http://choosealicense.com/licenses/${key}/`
  return { key, name, nickname, html_url, source_url, has }
}

const gnu = 'https://www.gnu.org/licenses'

/** The order matters: texts that quote others come first. */
const licenses: readonly Known[] = [
  known('agpl-3.0', 'GNU Affero General Public License v3.0', 'GNU AGPLv3', `${gnu}/agpl-3.0.txt`, [
    /gnu affero general public license/,
    /version 3,/,
  ]),
  known('lgpl-3.0', 'GNU Lesser General Public License v3.0', 'GNU LGPLv3', `${gnu}/lgpl-3.0.txt`, [
    /gnu lesser general public license/,
    /version 3,/,
  ]),
  known(
    'lgpl-2.1',
    'GNU Lesser General Public License v2.1',
    'GNU LGPLv2.1',
    `${gnu}/lgpl-2.1.txt`,
    [/gnu lesser general public license/, /version 2\.1/],
  ),
  known('gpl-3.0', 'GNU General Public License v3.0', 'GNU GPLv3', `${gnu}/gpl-3.0.txt`, [
    /gnu general public license/,
    /version 3,/,
  ]),
  known('gpl-2.0', 'GNU General Public License v2.0', 'GNU GPLv2', `${gnu}/gpl-2.0.txt`, [
    /gnu general public license/,
    /version 2,/,
  ]),
  known(
    'mpl-2.0',
    'Mozilla Public License 2.0',
    null,
    'https://www.mozilla.org/media/MPL/2.0/index.txt',
    [/mozilla public license,? version 2\.0/],
  ),
  known('epl-2.0', 'Eclipse Public License 2.0', null, 'https://www.eclipse.org/legal/epl-2.0/', [
    /eclipse public license - v 2\.0/,
  ]),
  known('apache-2.0', 'Apache License 2.0', null, 'https://www.apache.org/licenses/LICENSE-2.0', [
    /apache license/,
    /version 2\.0/,
  ]),
  known('bsl-1.0', 'Boost Software License 1.0', null, 'https://www.boost.org/LICENSE_1_0.txt', [
    /boost software license - version 1\.0/,
  ]),
  known(
    'cc0-1.0',
    'Creative Commons Zero v1.0 Universal',
    null,
    'https://creativecommons.org/publicdomain/zero/1.0/legalcode.txt',
    [/cc0 1\.0 universal/],
  ),
  known(
    'bsd-3-clause',
    'BSD 3-Clause "New" or "Revised" License',
    null,
    'https://opensource.org/licenses/BSD-3-Clause',
    [/redistribution and use in source and binary forms/, /neither the name/],
  ),
  known(
    'bsd-2-clause',
    'BSD 2-Clause "Simplified" License',
    null,
    'https://opensource.org/licenses/BSD-2-Clause',
    [/redistribution and use in source and binary forms/],
  ),
  known('isc', 'ISC License', null, 'https://opensource.org/licenses/ISC', [
    /permission to use, copy, modify, and(?:\/or)? distribute this software for any purpose/,
  ]),
  known('mit', 'MIT License', null, 'https://opensource.org/licenses/MIT', [
    /permission is hereby granted, free of charge, to any person obtaining a copy/,
  ]),
  known('unlicense', 'The Unlicense', null, 'https://unlicense.org/UNLICENSE', [
    /this is free and unencumbered software released into the public domain/,
  ]),
]

/** The licence of this key, as answers show it. */
export function findLicense(key: string): License | undefined {
  const found = licenses.find((one) => one.key === key) ?? (key === 'other' ? other : undefined)
  if (!found) return undefined
  const { has: _, ...license } = found
  return license
}

const other: Known = {
  key: 'other',
  name: 'Other',
  nickname: null,
  html_url: 'http://choosealicense.com/licenses/',
  source_url: null,
  has: [],
}

/** The key of the licence whose text this is; `other` for words that we do not know. */
export function licenseKeyOf(text: string): string {
  const plain = text.slice(0, 4000).toLowerCase().replaceAll(/\s+/g, ' ')
  const found = licenses.find((one) => one.has.every((words) => words.test(plain)))
  return found?.key ?? 'other'
}

/** Whether a file of the top folder holds the licence, and how surely: the lowest rank wins. */
export function licenseFileRank(name: string): number | null {
  if (/^(un)?licen[sc]e(\.(md|txt|rst))?$/i.test(name)) return 0
  if (/^copying(\.(md|txt|lesser))?$/i.test(name)) return 1
  return /^licen[sc]e[-_.].+$/i.test(name) ? 2 : null
}
