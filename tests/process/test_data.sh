#!/usr/bin/env bash
# Arrays as people have them: what `data` says of files, nodes that learn from them, what is
# evaluated and predicted: test_data.sh HEARSAY
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

bytes_of() { # numbers of so many bytes, little-endian
    local width=$1 number i text=
    shift
    for number in "$@"; do
        for ((i = 0; i < width; i++)); do
            printf -v text '%s\\x%02x' "$text" $((number >> 8 * i & 255))
        done
    done
    printf '%b' "$text"
}

# npy FILE TYPE SHAPE: an array as NumPy writes it; its numbers come from standard input.
npy() {
    local header="{'descr': '$2', 'fortran_order': ${4:-False}, 'shape': ($3), }"
    {
        printf '\x93NUMPY\x01\x00'
        bytes_of 2 ${#header}
        printf %s "$header"
        cat
    } >"$dir/$1"
}

# 300 rows of 4 bytes: the class is where the large one is. And what is 1 where it is first.
pixels=() classes=() floats=()
for ((i = 0; i < 300; i++)); do
    class=$((i * 7 % 4))
    for ((k = 0; k < 4; k++)); do
        pixels+=($((k == class ? 200 + i % 50 : i * k % 90)))
    done
    classes+=("$class")
    floats+=($((class == 0 ? 0x3f800000 : 0)))
done
bytes_of 1 "${pixels[@]}" | npy x.npy '|u1' '300, 4'
bytes_of 8 "${classes[@]}" | npy y.npy '<i8' '300,'
bytes_of 4 "${floats[@]}" | npy wanted.npy '<f4' '300,'
data=("$hearsay" data)
arrays=(--set data.source=npy --set "data.x=$dir/x.npy" --set "data.y=$dir/y.npy")
numbers=(--set data.source=npy --set "data.x=$dir/x.npy" --set "data.y=$dir/wanted.npy")

tell 'what a file is'
expect 0 'x.npy: NumPy array of uint8, shape \(300, 4\)$' "${data[@]}" "$dir/x.npy" "$dir/y.npy"
expect 0 '^  numbers   mean 79.95, deviation 87.4666, from 0 to 249$' "${data[@]}" "$dir/x.npy"
expect 0 '^  column 3 +mean ' "${data[@]}" "$dir/x.npy"
expect 0 '^  200  0  0  0$' "${data[@]}" --samples 1 "$dir/x.npy"
expect 0 'y.npy: NumPy array of int64, shape \(300,\)$' "${data[@]}" "$dir/y.npy"
expect 0 '^  labels    4 different ones, from 0 to 3; 2.000 bits each$' "${data[@]}" "$dir/y.npy"
expect 0 '^ +2 +75$' "${data[@]}" "$dir/y.npy"
expect 0 'wanted.npy: NumPy array of float32' "${data[@]}" "$dir/wanted.npy"
printf 'to be, or not to be\n' >"$dir/text.txt"
expect 0 'text.txt: text, 20 of them$' "${data[@]}" "$dir/text.txt"
expect 0 '^  to be, or not to be$' "${data[@]}" "$dir/text.txt"
gzip -k "$dir/text.txt"
expect 0 '^  bytes     9 different ones of 256; 2.9' "${data[@]}" "$dir/text.txt.gz"
bytes_of 2 5 7 5 9 >"$dir/tokens.bin"
expect 0 'tokens.bin: tokens of 16 bits, 4 of them$' "${data[@]}" "$dir/tokens.bin"
expect 0 '^  5 7 5 9 ' "${data[@]}" "$dir/tokens.bin"
{
    printf '\0\0\x08\x03\0\0\0\x01\0\0\0\x08\0\0\0\x08'
    bytes_of 1 {0..7} {0..7} {0..7} {0..7} 255 255 255 255 0 0 0 0 255 255 255 255 0 0 0 0 {0..15}
} >"$dir/picture"
expect 0 'picture: IDX, images, shape \(1, 8, 8\)$' "${data[@]}" "$dir/picture"
expect 0 '^  @@@@    $' "${data[@]}" "$dir/picture"

tell 'what a node would learn'
expect 0 '^training    270 samples of 1x1x4 \(shard 1/1\)$' "${data[@]}" "${arrays[@]}"
expect 0 '^test        30 samples$' "${data[@]}" "${arrays[@]}"
expect 0 '^numbers     bytes: mean .*; brought to mean 0 and deviation 1$' "${data[@]}" "${arrays[@]}"
expect 0 '^classes     4, of which 4 come in the training' "${data[@]}" "${arrays[@]}"
expect 0 '^  200  0  0  0  ->  0$' "${data[@]}" "${arrays[@]}"
expect 0 '^predicted   1 numbers each: mean 0.25' "${data[@]}" "${numbers[@]}"
expect 0 '^classes     10, ' "${data[@]}" --set data.source=generated --samples 2
expect 0 '^vocabulary  256, of which 9 come' "${data[@]}" --set data.source=text \
    --set "data.text=$dir/text.txt" --set "data.valid=$dir/text.txt.gz" --set data.context=4

tell 'what is wrong with it'
bytes_of 8 0 1 2 | npy float64.npy '<f8' '3,'
bytes_of 4 1 2 3 4 | npy fortran.npy '<f4' '2, 2' True
bytes_of 4 1 2 3 4 | npy big.npy '>i4' '4,'
bytes_of 4 0 0x7fc00000 0 0x7f800000 | npy nan.npy '<f4' '4,'
bytes_of 4 0 0x3fffffff 4294967295 2 | npy negative.npy '<i4' '4,'
bytes_of 4 1 2 3 | npy short.npy '<f4' '4,'
bytes_of 8 1 2 3 4 | npy int64.npy '<i8' '2, 2'
expect 1 'float64.npy: holds float64, .*astype\(np.float32\)' "${data[@]}" "$dir/float64.npy"
expect 1 'fortran.npy: lies in Fortran order' "${data[@]}" "$dir/fortran.npy"
expect 1 'big.npy: is big endian' "${data[@]}" "$dir/big.npy"
expect 1 'nan.npy: sample 1 holds NaN' "${data[@]}" "$dir/nan.npy"
expect 1 'negative.npy: the label of sample 1 is 1073741823' "${data[@]}" "$dir/negative.npy"
expect 1 'short.npy: announces 16 bytes of numbers and holds 12: it is cut short' \
    "${data[@]}" "$dir/short.npy"
expect 1 'int64.npy: holds int64, and samples are uint8 or float32' "${data[@]}" "$dir/int64.npy"
expect 1 'no array of NumPy' "${data[@]}" "$hearsay"
expect 1 'cannot be opened: No such file' "${data[@]}" "$dir/nowhere.npy"
expect 1 'shape \(300, 4\)' "${data[@]}" "$dir/nan.npy" "$dir/x.npy" # the others are told, too
expect 1 'data.x has 300 samples and data.y 4;' "${data[@]}" "${arrays[@]}" \
    --set "data.y=$dir/nan.npy"
expect 2 'data. source = npy needs x and y' "${data[@]}" --set data.source=npy
expect 2 'either FILEs, or --config and --set' "${data[@]}" "${arrays[@]}" "$dir/x.npy"
expect 2 'a whole number from 0 to 16' "${data[@]}" --samples 17
cp "$dir/x.npy" "$dir/test_x.npy"
head -c 300 /dev/zero | npy test_y.npy '|u1' '300,'
expect 0 '^note        the test has no sample of 3 of the 4 classes' "${data[@]}" "${arrays[@]}" \
    --set "data.test_x=$dir/test_x.npy" --set "data.test_y=$dir/test_y.npy"
bytes_of 4 0x42c80000 0x43480000 | npy far.npy '<f4' '2,'
expect 0 '^note        x is learned as it is, and far from mean 0' "${data[@]}" \
    --set data.source=npy --set "data.x=$dir/far.npy" --set "data.y=$dir/far.npy"

tell 'done'
