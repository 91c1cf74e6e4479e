/** What a licence lets people do, asks of them, and does not give; the words of choosealicense.com's rules. */
export interface LicenseText {
  readonly popular: boolean
  readonly description: string
  readonly permissions: readonly string[]
  readonly conditions: readonly string[]
  readonly limitations: readonly string[]
  /** With `[year]`, `[fullname]` and `[project]` where they belong. */
  readonly content: string
}

const free = ['commercial-use', 'modifications', 'distribution', 'private-use']
const patents = ['commercial-use', 'modifications', 'distribution', 'patent-use', 'private-use']
const noWarranty = ['liability', 'warranty']
const copyleft = ['include-copyright', 'document-changes', 'disclose-source', 'same-license']

const COPYRIGHT = 'Copyright (c) [year] [fullname]'

const BSD = `${COPYRIGHT}

Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this
   list of conditions and the following disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice,
   this list of conditions and the following disclaimer in the documentation
   and/or other materials provided with the distribution.
`

const BSD_THIRD = `
3. Neither the name of the copyright holder nor the names of its contributors
   may be used to endorse or promote products derived from this software
   without specific prior written permission.
`

const BSD_END = `
THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS"
AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE
FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER
CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY,
OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
`

/** The notice with which a work is put under a licence of the GNU project. */
function gnuNotice(name: string, version: string, orLater: string): string {
  return `[project]
Copyright (C) [year] [fullname]

This program is free software: you can redistribute it and/or modify it under
the terms of the GNU ${name} as published by the Free Software
Foundation, ${version}${orLater}.

This program is distributed in the hope that it will be useful, but WITHOUT
ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or FITNESS
FOR A PARTICULAR PURPOSE. See the GNU ${name} for more details.

You should have received a copy of the GNU ${name} along with this
program. If not, see <https://www.gnu.org/licenses/>.
`
}

const orLater = ', or (at your option) any later version'

/** Texts by the key of the licence; long licences are their standard notice, which names the full text. */
export const licenseTexts: Readonly<Record<string, LicenseText>> = {
  'agpl-3.0': {
    popular: false,
    description: 'Strong copyleft that also counts for those who use the work over a network.',
    permissions: patents,
    conditions: [...copyleft, 'network-use-disclose'],
    limitations: noWarranty,
    content: gnuNotice('Affero General Public License', 'version 3 of the License', orLater),
  },
  'apache-2.0': {
    popular: true,
    description:
      'A permissive licence that asks to keep notices and gives an express grant of patents.',
    permissions: patents,
    conditions: ['include-copyright', 'document-changes'],
    limitations: ['trademark-use', ...noWarranty],
    content: `Copyright [year] [fullname]

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
`,
  },
  'bsd-2-clause': {
    popular: false,
    description: 'A permissive licence in two conditions.',
    permissions: free,
    conditions: ['include-copyright'],
    limitations: noWarranty,
    content: `BSD 2-Clause License\n\n${BSD}${BSD_END}`,
  },
  'bsd-3-clause': {
    popular: false,
    description:
      'As the BSD 2-Clause License, and nobody may promote their work with the names of the authors.',
    permissions: free,
    conditions: ['include-copyright'],
    limitations: noWarranty,
    content: `BSD 3-Clause License\n\n${BSD}${BSD_THIRD}${BSD_END}`,
  },
  'gpl-2.0': {
    popular: false,
    description: 'Copyleft: whoever distributes the work gives its source under the same licence.',
    permissions: free,
    conditions: copyleft,
    limitations: noWarranty,
    content: gnuNotice('General Public License', 'version 2 of the License', orLater),
  },
  'gpl-3.0': {
    popular: true,
    description:
      'Strong copyleft with a grant of patents: whoever distributes the work gives its source.',
    permissions: patents,
    conditions: copyleft,
    limitations: noWarranty,
    content: gnuNotice('General Public License', 'version 3 of the License', orLater),
  },
  isc: {
    popular: false,
    description: 'A permissive licence, the shortest of them.',
    permissions: free,
    conditions: ['include-copyright'],
    limitations: noWarranty,
    content: `ISC License

${COPYRIGHT}

Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH
REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY
AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM
LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR
OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR
PERFORMANCE OF THIS SOFTWARE.
`,
  },
  'lgpl-3.0': {
    popular: false,
    description: 'Copyleft for the library itself; works that only use it may have other licences.',
    permissions: patents,
    conditions: copyleft,
    limitations: noWarranty,
    content: gnuNotice('Lesser General Public License', 'version 3 of the License', orLater),
  },
  mit: {
    popular: true,
    description: 'A short permissive licence that asks only to keep its notice.',
    permissions: free,
    conditions: ['include-copyright'],
    limitations: noWarranty,
    content: `MIT License

${COPYRIGHT}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`,
  },
  'mpl-2.0': {
    popular: false,
    description: 'Copyleft file by file: changed files stay open, whatever they are combined with.',
    permissions: patents,
    conditions: ['disclose-source', 'include-copyright', 'same-license--file'],
    limitations: ['trademark-use', ...noWarranty],
    content: `This Source Code Form is subject to the terms of the Mozilla Public
License, v. 2.0. If a copy of the MPL was not distributed with this
file, You can obtain one at https://mozilla.org/MPL/2.0/.
`,
  },
  unlicense: {
    popular: false,
    description: 'Gives the work to the public domain, without any condition.',
    permissions: free,
    conditions: [],
    limitations: noWarranty,
    content: `This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or
distribute this software, either in source code form or as a compiled
binary, for any purpose, commercial or non-commercial, and by any
means.

In jurisdictions that recognize copyright laws, the author or authors
of this software dedicate any and all copyright interest in the
software to the public domain. We make this dedication for the benefit
of the public at large and to the detriment of our heirs and
successors. We intend this dedication to be an overt act of
relinquishment in perpetuity of all present and future rights to this
software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND,
EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT.
IN NO EVENT SHALL THE AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR
OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR
OTHER DEALINGS IN THE SOFTWARE.

For more information, please refer to <https://unlicense.org/>
`,
  },
}
