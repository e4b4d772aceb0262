#include "commands/help/completion_script.h"

#include <stddef.h>
#include <string.h>

/* bash splits words at ":" and "=". So the script splits the line itself, and removes from each
 * candidate the part that bash already has. */
static const char bash[] =
    "# bash completion of hearsay: the program lists the candidates.\n"
    "_hearsay() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} word answer before words answers\n"
    "    read -ra words <<<\"$line\"\n"
    "    [[ $line != *[[:space:]] ]] || words+=('')\n"
    "    word=${words[-1]}\n"
    "    before=${word%\"${word##*[=:]}\"}\n"
    "    mapfile -t answers < <(\"${words[0]}\" completion --ask \"${words[@]:1}\" 2>/dev/null)\n"
    "    COMPREPLY=()\n"
    "    for answer in \"${answers[@]}\"; do\n"
    "        if [[ $answer == :files$'\\t'* ]]; then\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            mapfile -t COMPREPLY < <(compgen -f -- \"${word#\"${answer#*$'\\t'}\"}\")\n"
    "            return\n"
    "        fi\n"
    "        answer=${answer%%$'\\t'*}\n"
    "        COMPREPLY+=(\"${answer#\"$before\"}\")\n"
    "    done\n"
    "    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null\n"
    "}\n"
    "complete -F _hearsay hearsay\n";

static const char zsh[] =
    "#compdef hearsay\n"
    "# zsh completion of hearsay: the program lists the candidates.\n"
    "_hearsay() {\n"
    "    local line word\n"
    "    local -a answers open closed open_lines closed_lines\n"
    "    answers=(\"${(@f)$(${(Q)words[1]} completion --ask \"${(@Q)words[2,CURRENT]}\" "
    "2>/dev/null)}\")\n"
    "    for line in $answers; do\n"
    "        if [[ $line == :files$'\\t'* ]]; then\n"
    "            word=${line#*$'\\t'}\n"
    "            compset -P \"${(b)word}\"\n"
    "            _files\n"
    "            return\n"
    "        fi\n"
    "        word=${line%%$'\\t'*}\n"
    "        if [[ $word == *= ]]; then\n"
    "            open+=($word) open_lines+=(\"$word  ${line#*$'\\t'}\")\n"
    "        else\n"
    "            closed+=($word) closed_lines+=(\"$word  ${line#*$'\\t'}\")\n"
    "        fi\n"
    "    done\n"
    "    (( $#open )) && compadd -l -S '' -d open_lines -a open\n"
    "    (( $#closed )) && compadd -l -d closed_lines -a closed\n"
    "}\n"
    "if [[ $funcstack[1] == _hearsay ]]; then\n"
    "    _hearsay \"$@\"\n"
    "else\n"
    "    compdef _hearsay hearsay\n"
    "fi\n";

static const char fish[] =
    "# fish completion of hearsay: the program lists the candidates.\n"
    "function __hearsay_answer\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    set -l answers ($words[1] completion --ask $words[2..-1] 2>/dev/null)\n"
    "    if string match -q -- ':files*' $answers[1]\n"
    "        set -l before (string replace -- ':files'\\t '' $answers[1])\n"
    "        set -l typed (string sub -s (math (string length -- \"$before\") + 1) -- "
    "\"$words[-1]\")\n"
    "        for file in (__fish_complete_path \"$typed\")\n"
    "            printf '%s%s\\n' \"$before\" \"$file\"\n"
    "        end\n"
    "    else\n"
    "        printf '%s\\n' $answers\n"
    "    end\n"
    "end\n"
    "complete -c hearsay -f -a '(__hearsay_answer)'\n";

const char *completion_script(const char *shell)
{
    static const struct {
        const char *shell, *script;
    } ALL[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        if (strcmp(shell, ALL[i].shell) == 0)
            return ALL[i].script;
    return NULL;
}
