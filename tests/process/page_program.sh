# shellcheck shell=bash
# Prints the complete program from the page of the library ($1), with simple versions of the
# functions that the page leaves to its reader.
page_program() {
    cat <<'C'
static void init(float weight[10][784], float *bias)
{
    for (int i = 0; i < 7840; i++)
        weight[i / 784][i % 784] = bias[i % 10] = 0;
}
static double train_step(float weight[10][784], float *bias)
{
    for (int i = 0; i < 7840; i++)
        weight[i / 784][i % 784] += 0.001f * ((float)(i % 7) - weight[i / 784][i % 784]);
    return bias[0];
}
C
    # shellcheck disable=SC2016 # backquotes in the page
    sed -n '/^```c$/,/^```$/{/^```/d;p}' "$1"
}
