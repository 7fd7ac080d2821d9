# The benchmark workloads in ns-2: `ns ns2.tcl key=value...`, one line of JSON on stdout.
# bench.py reads the workload from its scenario file and calls this; settings are listed below.
#
# One network fits all workloads: a chain of routers, hops links long. With pairs > 0, pair i hangs
# a sender on its first router and a receiver on its last, each by an access link; with pairs = 0
# the two ends of the chain are sender and receiver themselves. Flow i uses pair i mod pairs.
# access_delay is one delay, or one for each pair: 0.001,0.002,...

array set settings {
    pairs 0  flows 1  hops 1  duration 10
    hop_rate 2e6  hop_delay 0.01  hop_queue 20
    access_rate 1e10  access_delay 0.001  access_queue 100000
    recovery reno  payload 1000  window 20  initial_window -  initial_ssthresh -
    start_first 0.1  start_every 0
    headers lean  scheduler Calendar  routes needed  mode time
}
foreach argument $argv {
    if {![regexp {^(\w+)=(.*)$} $argument -> key value] || ![info exists settings($key)]} {
        puts stderr "ns2.tcl: not a setting: $argument (settings: [lsort [array names settings]])"
        exit 2
    }
    set settings($key) $value
}
set process_began [clock microseconds]

# TCP alone needs IP, TCP and Flags. Without Flags ns-2 still runs, but corrupts packet sizes.
if {$settings(headers) eq "lean"} {
    remove-all-packet-headers
    add-packet-header IP TCP Flags
}
set ns [new Simulator]
if {$settings(scheduler) ne "Calendar"} { $ns use-scheduler $settings(scheduler) }

proc connect_nodes {a b rate delay queue} {
    global ns links
    $ns duplex-link $a $b $rate $delay DropTail
    $ns queue-limit $a $b $queue
    $ns queue-limit $b $a $queue
    lappend links [list $a $b] [list $b $a]
}

set links {}
for {set j 0} {$j <= $settings(hops)} {incr j} { set router($j) [$ns node] }
for {set j 0} {$j < $settings(hops)} {incr j} {
    connect_nodes $router($j) $router([expr {$j + 1}]) $settings(hop_rate) $settings(hop_delay) $settings(hop_queue)
}
set access_delays [split $settings(access_delay) ,]
for {set i 0} {$i < $settings(pairs)} {incr i} {
    set left($i) [$ns node]
    set right($i) [$ns node]
    set delay [lindex $access_delays [expr {$i % [llength $access_delays]}]]
    connect_nodes $left($i) $router(0) $settings(access_rate) $delay $settings(access_queue)
    connect_nodes $router($settings(hops)) $right($i) $settings(access_rate) $delay $settings(access_queue)
}

# Static routing computes and stores all pairs of nodes: a minute and 500 MiB at 1000 pairs, of
# which no packet uses but a few thousand. routes=needed installs just those into the same
# classifiers, so that the run phase is the same (compare with routes=static).
proc route {nodes} {
    global ns
    for {set k 0} {$k + 1 < [llength $nodes]} {incr k} {
        set node [lindex $nodes $k]
        set hop [[$ns link $node [lindex $nodes [expr {$k + 1}]]] head]
        $node add-route [[lindex $nodes end] id] $hop
    }
}
if {$settings(routes) eq "needed"} {
    Simulator instproc compute-routes {} {
        global settings router left right
        set chain {}
        for {set j 0} {$j <= $settings(hops)} {incr j} { lappend chain $router($j) }
        if {$settings(pairs) == 0} { route $chain; route [lreverse $chain] }
        for {set i 0} {$i < $settings(pairs)} {incr i} {
            set path [concat $left($i) $chain $right($i)]
            route $path
            route [lreverse $path]
        }
    }
}

set agents {reno Reno newreno Newreno sack Sack1}
for {set i 0} {$i < $settings(flows)} {incr i} {
    set tcp [new Agent/TCP/[dict get $agents $settings(recovery)]]
    set sink($i) [new Agent/TCPSink[expr {$settings(recovery) eq "sack" ? "/Sack1" : ""}]]
    $tcp set packetSize_ $settings(payload)
    $tcp set window_ $settings(window)
    if {$settings(initial_window) ne "-"} { $tcp set windowInit_ $settings(initial_window) }
    if {$settings(pairs) == 0} {
        set from $router(0)
        set to $router($settings(hops))
    } else {
        set from $left([expr {$i % $settings(pairs)}])
        set to $right([expr {$i % $settings(pairs)}])
    }
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink($i)
    $ns connect $tcp $sink($i)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    # `$ns run` resets every agent, and that sets ssthresh_ to the window: hence only now.
    set begin "$ftp start"
    if {$settings(initial_ssthresh) ne "-"} { set begin "$tcp set ssthresh_ $settings(initial_ssthresh); $begin" }
    $ns at [expr {$settings(start_first) + $i * $settings(start_every)}] $begin
}

# Counting slows the run: it is a mode of its own, never timed.
if {$settings(mode) eq "count"} {
    foreach link $links { lappend monitors [eval $ns monitor-queue $link {""}] }
}

proc finish {} {
    global settings sink monitors run_began process_began
    set run_ended [clock microseconds]
    set bytes 0
    # bytes_ counts what the sink passed on in order: payload and header, and the SYN's 40 bytes.
    for {set i 0} {$i < $settings(flows)} {incr i} { incr bytes [expr {[$sink($i) set bytes_] - 40}] }
    set crossings null
    if {$settings(mode) eq "count"} {
        set crossings 0
        foreach monitor $monitors { incr crossings [expr {int([$monitor set pdepartures_])}] }
    }
    set status [open /proc/self/status]
    regexp {VmHWM:\s+(\d+) kB} [read $status] -> peak
    puts [format {{"run_wall_s": %.6f, "setup_wall_s": %.6f, "packets": %d, "goodput_mbps": %.6f, "crossings": %s, "peak_rss_bytes": %d}} \
        [expr {($run_ended - $run_began) / 1e6}] [expr {($run_began - $process_began) / 1e6}] \
        [expr {$bytes / ($settings(payload) + 40)}] [expr {8e-6 * $bytes / $settings(duration)}] \
        $crossings [expr {$peak * 1024}]]
    exit 0
}
# `$ns run` computes the routes before its first event: the run phase begins with that event.
$ns at 0.0 {set run_began [clock microseconds]}
$ns at $settings(duration) finish
$ns run
